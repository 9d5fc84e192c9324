# Types lines into an interactive zsh and records the offers of Tab: complete.zsh COMPLETION LINES OFFERED
# OFFERED receives "line<TAB>word" for each word. The line editor needs a terminal, which zpty makes.
if [[ $1 != inside ]]; then
  zmodload zsh/zpty || exit 1
  zpty shell "TERM=dumb zsh -f -i"
  zpty -w shell "source ${(q)0:A} inside ${(q)@}"
  zpty -w -n shell $'\C-t'
  while zpty -r shell output 2>/dev/null; do :; done
  exit
fi

export COMPLETION=$2 LINES_TO_TYPE=$3 OFFERED=$4
PS1= LISTMAX=100000
autoload -Uz compinit
compinit -D -u
source $COMPLETION

typeset -ga offered
compadd() {  # receives every offered word; with -O, -A or -D it only asks
  local -a matching
  if [[ " $* " != *\ -[OAD]\ * ]]; then
    builtin compadd -A matching "$@"
    offered+=($IPREFIX$^matching)
  fi
  builtin compadd "$@"
}
complete_and_note() {
  _main_complete
  compstate[list]= compstate[insert]=
}
zle -C note list-choices complete_and_note
type_lines() {
  local line word
  for line in ${(f)"$(<$LINES_TO_TYPE)"}; do
    BUFFER=$line CURSOR=$#line offered=()
    zle note
    for word in $offered; do print -r -- "$line"$'\t'"$word"; done
  done >$OFFERED
  BUFFER=exit
  zle accept-line
}
zle -N type_lines
bindkey '^T' type_lines
