// Places where a shell text can hold a command. X stands for the command, or for another context. The set of
// all pairs is what the parser is compared with other parsers on.
export const contexts = [
  'X', 'X;', 'X &', 'X; true', 'true; X', 'true && X', 'false || X', 'true | X', 'X | cat', 'X |& cat', '! X', '! ! X', '! { X; }',
  '! if X; then :; fi', '! (X)', 'time X', 'time -p X', 'time { X; }', 'time (X)', 'coproc X', 'coproc { X; }', 'coproc N { X; }',
  '(X)', '( (X) )', '{ X; }', '{ X\n}', '{ { X; }; }', 'if X; then :; fi', 'if :; then X; fi', 'if :; then :; else X; fi',
  'if :; then :; elif X; then :; fi', 'if :; then :; elif :; then X; fi', 'while X; do break; done', 'while :; do X; break; done',
  'until X; do :; done', 'until :; do X; done', 'for i in 1; do X; done', 'for i in $(X); do :; done', 'for i in `X`; do :; done',
  'for ((i=0;i<1;i++)); do X; done', 'for i; do X; done', 'for i in 1; { X; }', 'select i in 1; do X; break; done',
  'case a in a) X ;; esac', 'case a in (a) X ;; esac', 'case a in a|b) X ;& c) : ;; esac', 'case $(X) in a) : ;; esac', 'case a in $(X)) : ;; esac',
  'case a in a) X\nesac', 'f() { X; }', 'f() (X)', 'function f { X; }', 'function f() { X; }', 'f() if :; then X; fi',
  'echo $(X)', 'echo "$(X)"', 'echo a$(X)b', 'echo `X`', 'echo "`X`"', 'echo $( (X) )', 'echo $(X; true)', 'echo $(\nX\n)', 'echo $(X # c\n)',
  'echo <(X)', 'cat < <(X)', 'echo > >(X)', 'tee >(X)', 'a=$(X)', 'a=`X`', 'a="$(X)"', 'a=$(X) b=1 true', 'a=1 b=$(X) true', 'a=($(X))', 'a=(1 `X`)',
  'a[$(X)]=1', 'declare a=$(X)', 'export a="$(X)"', 'local a=$(X)', 'echo ${a:-$(X)}', 'echo ${a:-`X`}', 'echo "${a:-$(X)}"', 'echo "${a:-`X`}"',
  'echo ${a#$(X)}', 'echo ${a#`X`}', 'echo ${a/$(X)/b}', 'echo ${a[$(X)]}', 'echo $(( $(X) + 1 ))', 'echo $(( `X` ))', '(( $(X) ))', '(( a = `X` ))',
  'echo $[ $(X) ]', 'cat <<E\n$(X)\nE', 'cat <<E\n`X`\nE', 'cat <<-E\n\t$(X)\n\tE', 'cat <<"E"\nq\nE\nX', 'cat <<E; X\nq\nE', 'cat <<< $(X)', 'cat <<< "`X`"',
  'echo > $(X)', 'echo >> "`X`"', '> f X', 'true | a=1 >f b=2 X', '[[ $(X) ]]', '[[ a == `X` ]]', '[[ -n $(X) && a ]]', 'a=1 [[ b == $(X) ]]', '[ "$(X)" ]',
  'X > f', 'X 2>&1', 'X &> f', 'X < f', 'echo a \\\n$(X)', 'true\nX', '# c\nX', 'true # c\nX', 'echo \'q\' "$(X)"', "echo $'q' $(X)", '{ X; } > f', '(X) 2> f',
  'if :; then X; fi | cat', 'while :; do X; done < f', 'echo {a,$(X)}', 'echo @(a|$(X))', '((1)) && X', '[[ a ]] || X', 'exec 3<>f; X', 'X & X',
];
