"""How close estimates come to what Paddle's allocator reports."""
