# Hooks for an interactive zsh. It stands in for the user's .zshenv: ZDOTDIR points here only until this file
# is read, so zsh finds all later files of the user's by itself, in its usual order. A shell that is at its prompt
# already may read it, too, and then it reads nothing else.
#
# Marks are OSC 633 and end with the nonce of the command they are about: preexec takes it from the file "next", where
# the terminal puts a new one before each prompt. They go to /dev/tty, because a command may have redirected the
# shell's own output. Nothing is exported.
if [[ @AGAIN@ != 1 ]]; then
  if [[ @HAS_ZDOTDIR@ == 1 ]]; then
    export ZDOTDIR=@USER_ZDOTDIR@
  else
    unset ZDOTDIR
  fi
fi

if [[ -o interactive ]]; then
  typeset -g +x __ttyward_nonce=@NONCE@ __ttyward_dir=@DIR@
  typeset -g +x __ttyward_ran=0 __ttyward_seen= __ttyward_done= __ttyward_late= __ttyward_text=
  typeset -g +x __ttyward_names= __ttyward_snapshot= __ttyward_reading= __ttyward_literal=
  typeset -gA +x __ttyward_env

  # OSC 633's escapes for $1, in __ttyward_text.
  __ttyward_escape() {
    builtin setopt localoptions no_multibyte
    local v=$1
    v=${v//\\/\\\\}
    v=${v//;/\\x3b}
    if [[ $v == *[[:cntrl:]]* ]]; then
      v=${v//$'\n'/\\x0a}
      v=${v//$'\t'/\\x09}
      v=${v//$'\e'/\\x1b}
      v=${v//$'\a'/\\x07}
      v=${v//$'\r'/\\x0d}
      v=${v//[[:cntrl:]]/?}
    fi
    __ttyward_text=$v
  }

  # Whether our variables are as we made them: a command may have made one an integer (what is assigned is evaluated
  # then) or read-only. Such a one is made anew; where that cannot be, the hooks do nothing at all.
  __ttyward_check() {
    local tw_name tw_value
    for tw_name in nonce dir ran seen done late text names snapshot reading literal; do
      tw_name=__ttyward_$tw_name
      [[ ${(Pt)tw_name} == scalar ]] && continue
      tw_value=${(P)tw_name}
      builtin unset $tw_name || return 1
      builtin typeset -g +x $tw_name=$tw_value || return 1
    done
    return 0
  }

  # Throws away what was typed and not read. There is such a file if anything was typed since the last prompt that
  # must not become a command.
  __ttyward_drop() {
    command -p sh -c 's=$(stty -g) && stty -icanon -echo min 0 time 1 && cat >/dev/null; stty "$s"' </dev/tty
  }

  __ttyward_put() {
    builtin print -rn -- "$1" >/dev/tty
  }

  # The text of a command that was too long or too odd to type, once.
  __ttyward_take() {
    local __ttyward_s=$?
    builtin emulate -L zsh
    builtin print -rn -- "$(<$__ttyward_dir/$1)"
    builtin : >|$__ttyward_dir/$1
    return $__ttyward_s
  }

  # Which exported variables changed since the last prompt. Names that sound like secrets keep their values. What
  # is local here and in those who call it must not hide a variable of the user's: thus the prefix.
  __ttyward_environment() {
    local tw_names="${(ok)parameters[(R)*export*]}" tw_snapshot=
    [[ $tw_names == "$__ttyward_names" ]] || __ttyward_remember "$tw_names"
    __ttyward_values
    [[ $tw_snapshot == "$__ttyward_snapshot" ]] || __ttyward_report
    tw_snapshot="${(kj: :)aliases} ${(kj: :)galiases} ${(kj: :)saliases}=${(kj: :)functions}=$tw_options=$tw_ifs=${LC_ALL-}=${LC_CTYPE-}=${LANG-}"
    [[ $tw_snapshot == "$__ttyward_reading" ]] || __ttyward_report_reading
    return 0
  }

  # What changes how a line is read.
  __ttyward_report_reading() {
    local -a all=(${${(k)functions}:#__ttyward_*})
    local ifs=0 cut=0 names="${(j: :)all}" out=$'\e]633;Reading;'
    __ttyward_reading=$tw_snapshot
    [[ $tw_ifs == $' \t\n\0' || $tw_ifs == $' \t\n' ]] && ifs=1
    if (( $#names > 32768 )); then names=${names[1,32768]% *} cut=1; fi
    __ttyward_escape "${(kj: :)aliases} ${(kj: :)galiases} ${(kj: :)saliases}"
    (( $#__ttyward_text > 8192 )) && { __ttyward_text=${__ttyward_text[1,8192]% *} cut=1 }
    out+="$__ttyward_text;"
    __ttyward_escape "$names"
    out+="$__ttyward_text;$tw_options;$ifs;"
    __ttyward_escape "${LC_ALL:-${LC_CTYPE:-${LANG-}}}"
    __ttyward_put "$out${__ttyward_text[1,128]};$cut;$__ttyward_nonce"$'\a'
  }

  # Makes the function that puts all values into `tw_snapshot`: whether any of them changed is then one comparison.
  __ttyward_remember() {
    local tw_name tw_text=
    __ttyward_names=$1
    for tw_name in ${(s: :)1}; do
      case $tw_name in
        (_|PWD|OLDPWD|SHLVL|*[^A-Za-z0-9_]*) ;;
        (*) tw_text+="\${#$tw_name}=\${$tw_name-};" ;;
      esac
    done
    functions[__ttyward_values]="tw_snapshot=\"$tw_text\""
  }

  __ttyward_report() {
    local tw_name tw_value tw_out=
    local -A tw_now
    __ttyward_snapshot=$tw_snapshot
    for tw_name in ${(s: :)tw_names}; do
      case $tw_name in
        (_|PWD|OLDPWD|SHLVL|*[^A-Za-z0-9_]*) continue ;;
      esac
      tw_now[$tw_name]=1
      tw_value=${(P)tw_name}
      [[ ${__ttyward_env[$tw_name]-} == "=$tw_value" ]] && continue
      if (( $#tw_out > 65536 )); then
        __ttyward_snapshot=  # the rest at the next prompt
        continue
      fi
      __ttyward_env[$tw_name]="=$tw_value"
      case ${(U)tw_name}=$tw_value in
        (*TOKEN*=*|*SECRET*=*|*PASSW*=*|*PASSPHRASE*=*|*KEY*=*|*AUTH*=*|*CRED*=*|*PRIVATE*=*|*CERT*=*|*PWD=*|*_PAT=*|*DSN=*|*://*:*@*)
          tw_out+=$'\e]633;EnvSingleHidden;'"$tw_name;$__ttyward_nonce"$'\a'
          continue ;;
      esac
      if (( $#tw_value > 4096 )); then
        tw_out+=$'\e]633;EnvSingleHidden;'"$tw_name;$__ttyward_nonce"$'\a'
      else
        __ttyward_escape "$tw_value"
        tw_out+=$'\e]633;EnvSingleEntry;'"$tw_name;$__ttyward_text;$__ttyward_nonce"$'\a'
      fi
    done
    for tw_name in ${(k)__ttyward_env}; do
      [[ -n ${tw_now[$tw_name]-} ]] && continue
      builtin unset "__ttyward_env[$tw_name]"
      tw_out+=$'\e]633;EnvSingleDelete;'"$tw_name;$__ttyward_nonce"$'\a'
    done
    [[ -n $tw_out ]] && __ttyward_put $'\e]633;EnvSingleStart;0;'$__ttyward_nonce$'\a'"$tw_out"$'\e]633;EnvSingleEnd;'$__ttyward_nonce$'\a'
    return 0
  }

  __ttyward_finish() {
    __ttyward_done=1
    __ttyward_escape "$PWD"
    local out=$'\e]633;P;Cwd='"$__ttyward_text;$__ttyward_nonce"$'\a'
    # A line without its end: what PROMPT_SP does, but after the mark, so that it is no part of the output.
    [[ -n $__ttyward_seen ]] && out+=$'\e]633;D;'"$1;$2;$__ttyward_ran;$__ttyward_nonce"$'\a'${(l:$((COLUMNS - 1)):: :)}$'\r'
    __ttyward_put "$out"
  }

  # The first thing before a prompt: the status, before anybody else's hook takes its time.
  __ttyward_first() {
    { local s=$? p="${(j:|:)pipestatus}" } 2>/dev/null
    {
      builtin emulate -L zsh
      builtin setopt unset no_err_exit no_err_return no_all_export no_xtrace
      __ttyward_check && __ttyward_finish $s $p
    } 2>/dev/null
    return 0
  }

  # The last thing before a prompt: by now a theme has made its PS1.
  __ttyward_last() {
    { local tw_s=$? tw_p="${(j:|:)pipestatus}" tw_subst=${options[promptsubst]-off} tw_ifs=${IFS-} tw_options="${(kj: :)options[(R)on]}" } 2>/dev/null
    {
      builtin emulate -L zsh
      builtin setopt unset no_err_exit no_err_return no_all_export no_xtrace
      __ttyward_check || return 0
      [[ -z $__ttyward_done ]] && __ttyward_finish $tw_s $tw_p
      __ttyward_let_pass && return 0
      [[ -e $__ttyward_dir/typed ]] && __ttyward_drop
      __ttyward_install $tw_subst
      [[ @ENVIRONMENT@ == 1 ]] && [[ $__ttyward_ran != 0 || -z $__ttyward_seen ]] && __ttyward_environment
      __ttyward_done=
      __ttyward_ran=0
      __ttyward_seen=1
      __ttyward_put $'\e]633;A;'"$__ttyward_nonce"$'\a'
    } 2>/dev/null
    __ttyward_options
    return 0
  }

  # A hook that came after ours this time (a theme's, at the first prompt) would change PS1 once we are done.
  # The list of hooks is fixed while they run, but each is looked up by name: the last one gets us as its tail.
  __ttyward_let_pass() {
    local tail=$precmd_functions[-1]
    [[ -n $__ttyward_late || $tail == __ttyward_last || -z $functions[$tail] ]] && return 1
    builtin setopt localoptions no_aliases
    [[ $functions[$tail] == *'autoload -X'* ]] && builtin autoload +X $tail
    __ttyward_late=$tail
    functions[__ttyward_late_hook]=$functions[$tail]
    functions[$tail]='__ttyward_late_hook "$@"; __ttyward_late_end'
    return 0
  }

  __ttyward_late_end() {
    {
      builtin emulate -L zsh
      builtin setopt unset no_err_exit no_err_return no_all_export no_xtrace no_aliases
      functions[$__ttyward_late]=$functions[__ttyward_late_hook]
    } 2>/dev/null
    __ttyward_last
    __ttyward_late=
    return 0
  }

  # Options stay only outside of emulate.
  __ttyward_options() {
    {
      builtin unsetopt prompt_sp
      builtin setopt interactive_comments
      [[ @HISTORY@ == 0 ]] && builtin setopt hist_ignore_space
    } 2>/dev/null
    return 0
  }

  __ttyward_exec() {
    {
      builtin emulate -L zsh
      builtin setopt unset no_err_exit no_err_return no_all_export no_xtrace
      __ttyward_check || return 0
      local out= next="$(<$__ttyward_dir/next)"
      [[ -n $next ]] && __ttyward_nonce=$next
      __ttyward_ran=1
      if (( $#1 <= 16384 )) && [[ -n $1 ]]; then
        __ttyward_escape "$1"
        out=$'\e]633;E;'"$__ttyward_text;$__ttyward_nonce"$'\a'
      fi
      __ttyward_put $out$'\e]633;C;'$__ttyward_nonce$'\a'
    } 2>/dev/null
    return 0
  }

  # Puts the hooks where they belong; run before each prompt, because themes and a .zshrc read again move them.
  # $1: whether prompts expand variables.
  __ttyward_install() {
    precmd_functions=(__ttyward_first ${precmd_functions:#__ttyward_*} __ttyward_last)
    preexec_functions=(${preexec_functions:#__ttyward_*} __ttyward_exec)
    # By name, so that an exported PS1 gives nothing away; literally, where prompts expand nothing.
    local n='${__ttyward_nonce-}' b f g old
    if [[ -n $__ttyward_literal ]]; then
      old=$'%{\e]633;B;'"$__ttyward_literal"$'\a%}'
      PS1=${PS1//"$old"}
      old=$'%{\e]633;F;'"$__ttyward_literal"$'\a%}'
      PS2=${PS2//"$old"}
      old=$'%{\e]633;G;'"$__ttyward_literal"$'\a%}'
      PS2=${PS2//"$old"}
    fi
    __ttyward_literal=
    [[ $1 == on ]] || { n=$__ttyward_nonce; __ttyward_literal=$n }
    b=$'%{\e]633;B;'"$n"$'\a%}' f=$'%{\e]633;F;'"$n"$'\a%}' g=$'%{\e]633;G;'"$n"$'\a%}'
    if [[ $PS1 != *"$b"* ]]; then
      # A bare % at the end would swallow what follows.
      [[ $PS1 == (|*[^%])(%%)#% ]] && PS1+=%
      PS1+=$b
    fi
    [[ $PS2 != *"$g"* ]] && PS2="$f$PS2$g"
    return 0
  }

  typeset -ga precmd_functions preexec_functions
  precmd_functions=(__ttyward_first $precmd_functions __ttyward_last)
  preexec_functions=($preexec_functions __ttyward_exec)
  __ttyward_options
fi

if [[ @AGAIN@ != 1 && -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
  source ${ZDOTDIR-$HOME}/.zshenv
fi
