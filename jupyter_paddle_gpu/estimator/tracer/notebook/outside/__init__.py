"""What a program asks of its surroundings: environment variables, arguments of a command line, a person's input.

Each is a question by its own name; the answer takes its place here as it does in a job (`runner/sets`).
"""
