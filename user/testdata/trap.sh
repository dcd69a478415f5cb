sleep 0; sleep 2>/dev/null || echo none; trap 'echo bye' EXIT; echo body
