"""What training a language model costs by the token: tables of speed, priced by the card-hour."""
