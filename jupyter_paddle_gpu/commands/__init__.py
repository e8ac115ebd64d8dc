"""What the terminal and the cell share: the commands, their options, and how answers are drawn."""
