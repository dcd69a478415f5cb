(exit 3); echo $?
