"""How long jobs wait, how full cards are, and how well seconds of steps are foretold."""
