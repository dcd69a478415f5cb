echo "$1 $2 $#"; shift; echo "$@"
