"""The speed of trainings on machines that were not measured: tables and points in, rates and intervals out."""
