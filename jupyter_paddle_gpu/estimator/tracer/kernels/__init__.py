"""What is known of Paddle's operators: results, views, transients, what gradients read, costs."""
