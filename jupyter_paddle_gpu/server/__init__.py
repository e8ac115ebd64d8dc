"""REST and WebSocket: parse, ask a service, answer. No decisions here."""
