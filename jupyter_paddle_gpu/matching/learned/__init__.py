"""What finished jobs teach: seconds of a step on a card, and a choice that uses them."""
