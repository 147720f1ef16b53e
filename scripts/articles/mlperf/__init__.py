"""Results of MLPerf Training in dollars."""
