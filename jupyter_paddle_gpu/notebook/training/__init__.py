"""What of a notebook trains: loop, model, loss, batch size, precision, and what each cell is for."""
