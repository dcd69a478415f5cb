nosuchcommand 2>/dev/null
