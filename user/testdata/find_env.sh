mkdir d; touch d/a d/b; find d | sort; seq 3 | xargs echo; V=1 env W=2 | grep '^[VW]=' | sort; env W=3 sh -c 'echo $W'
