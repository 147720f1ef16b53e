"""An owned machine against rented ones: scaling, estimate, use."""
