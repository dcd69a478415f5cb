echo one > f; echo two >> f; cat f f; cat < f; cat <<X
here $((1 + 1))
X
