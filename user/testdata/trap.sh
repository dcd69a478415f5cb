sleep 0; sleep 2>/dev/null; echo $?; trap 'echo bye' EXIT; echo body
