# Hooks for an interactive bash, 4.4 or later. Read in place of ~/.bashrc, which it reads itself; or by a shell that
# is at its prompt already, and then it reads nothing else.
#
# Marks are OSC 633 and end with the nonce of the command they are about: PS0 takes it from the file "next", where the
# terminal puts a new one before each prompt. They are written to the terminal itself, because a command may have
# redirected the shell's own output. Everything here is defined before the user's files are read, so that no alias of
# theirs gets into it, and nothing is ever exported, so that no program started here knows the nonce.
#
# Variables of ours are text: none is ever part of an arithmetic expression or a subscript that is one, and
# __ttyward_check makes sure that assigning to them does no more than that.
#
# It runs with every command, so nothing here starts a process on the way of one that an agent sends.
#
# What runs before every prompt has no compound assignment (name=(…)): bash reads those with its parser, and one that
# Ctrl-C interrupts there leaves the parser at the end of its text, which the shell takes for the end of its input.
__ttyward_allexport=$-
set +a
__ttyward_nonce=@NONCE@
__ttyward_dir=@DIR@
# An array, though of one element: those are never exported, not even by PS0's assignment under "set -a".
declare -a __ttyward_next=('')
# Set while nothing but a command can change this shell: no traps, no hooks of others.
__ttyward_quiet=
# What is remembered from prompt to prompt; the exported variables as last reported; for PS0, where the history stands.
declare -A __ttyward_s=([0]= [status]=0 [seen]= [installed]= [literal]= [done]= [ran]= [names]= [exported]= [functions]= [snapshot]= [reading]= [text]=)
declare -A __ttyward_env=([0]=) __ttyward_h=([0]=)

# OSC 633's escapes for $1, in __ttyward_s[text].
__ttyward_escape() {
  local LC_ALL=C v=$1
  v=${v//\\/\\\\}
  v=${v//;/\\x3b}
  if [[ $v == *[[:cntrl:]]* ]]; then
    v=${v//$'\n'/\\x0a} v=${v//$'\t'/\\x09} v=${v//$'\e'/\\x1b} v=${v//$'\a'/\\x07} v=${v//$'\r'/\\x0d}
    v=${v//[[:cntrl:]]/?}
  fi
  __ttyward_s[text]=$v
}

__ttyward_put() {
  builtin printf %s "$1" >/dev/tty
}

# The text of a command that was too long or too odd to type, once.
__ttyward_take() {
  local status=$? text
  IFS= builtin read -r -d '' text <"$__ttyward_dir/$1"
  builtin printf %s "$text"
  builtin : >|"$__ttyward_dir/$1"
  return "$status"
}

# Whether our variables are as we made them. A command may have made one an integer (what is assigned is evaluated
# then), a reference or read-only: such a one is made anew; where that cannot be, the hooks do nothing at all, and
# whoever misses the marks gets along without.
__ttyward_check() {
  # What is used here may have been disabled.
  builtin enable printf read unset trap compgen history eval :
  # References first: to read one is to evaluate what it refers to.
  if [[ ! -R __ttyward_nonce && ! -R __ttyward_dir && ! -R __ttyward_next && ! -R __ttyward_s && \
    ! -R __ttyward_quiet && ! -R __ttyward_env && ! -R __ttyward_h && \
    "${__ttyward_nonce@a}${__ttyward_dir@a}${__ttyward_quiet@a}${__ttyward_next@a}${__ttyward_s@a}${__ttyward_env@a}${__ttyward_h@a}" == a@(|x)AAA ]]; then
    return 0
  fi
  local tw_name tw_value tw_seen=
  for tw_name in __ttyward_nonce __ttyward_dir __ttyward_quiet __ttyward_next; do
    if [[ -R $tw_name ]]; then builtin unset -n "$tw_name"; fi
    tw_value=${!tw_name-}
    builtin unset -v "$tw_name" || return 1
    declare -g "$tw_name=$tw_value" || return 1
  done
  builtin unset -v __ttyward_next
  declare -ga __ttyward_next=("$tw_value")
  for tw_name in __ttyward_s __ttyward_env __ttyward_h; do
    if [[ -R $tw_name ]]; then builtin unset -n "$tw_name"; fi
    builtin unset -v "$tw_name" || return 1
  done
  declare -gA __ttyward_s=([0]= [status]=0 [seen]=1 [installed]= [literal]= [done]= [ran]= [names]= [exported]= [functions]= [snapshot]= [reading]= [text]=)
  declare -gA __ttyward_env=([0]=) __ttyward_h=([0]=)
}

# Throws away what was typed and not read. There is such a file if anything was typed since the last prompt that
# must not become a command: what a program left unread, answers of the terminal to what nobody asked any more.
__ttyward_drop() {
  local tw_dropped
  while IFS= builtin read -rs -N 65536 -t 0.005 tw_dropped </dev/tty; do :; done
}

# Which exported variables changed since the last prompt. Names that sound like secrets keep their values. What is
# local here and in those who call it must not hide a variable of the user's: thus the prefix.
__ttyward_environment() {
  local IFS= tw_names= tw_snapshot= tw_end=$'\036'
  # By way of a file, because a command substitution is a process; and not truncated, because then some file
  # systems write it out each time. No name has the separator in it.
  if { builtin trap -p; builtin compgen -e -A function -X '__ttyward_*' -W "$tw_end"; } 1<>"$__ttyward_dir/names"; then
    builtin read -r -d "$tw_end" tw_names <"$__ttyward_dir/names"
  else
    tw_names=$(builtin trap -p; builtin compgen -e -A function -X '__ttyward_*')
  fi
  if [[ $tw_names != "${__ttyward_s[names]}" ]]; then
    __ttyward_s[names]=$tw_names
    __ttyward_remember
  fi
  __ttyward_values
  if [[ $tw_snapshot != "${__ttyward_s[snapshot]}" ]]; then __ttyward_report; fi
  IFS=' '
  tw_snapshot="${!BASH_ALIASES[*]}=${BASH_ALIASES[*]}=${__ttyward_s[functions]}=$tw_options=$tw_ifs=${LC_ALL-}=${LC_CTYPE-}=${LANG-}"
  if [[ $tw_snapshot != "${__ttyward_s[reading]}" ]]; then __ttyward_report_reading; fi
}

# Variables, functions or traps are other ones than before. Makes the function that puts all values into `tw_snapshot`:
# whether any of them changed is then one comparison.
__ttyward_remember() {
  local IFS=$'\n' name text=
  # A trap that does nothing is a signal that is ignored.
  __ttyward_quiet=1
  if [[ $tw_names == *"trap -- '"[!\']* || ${bash_preexec_imported-}${__bp_imported-} ]] || \
    ((BASH_VERSINFO[0] < 5 || (BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] < 1))); then
    __ttyward_quiet=
  fi
  __ttyward_s[functions]=$(builtin compgen -A function -X '__ttyward_*')
  __ttyward_s[exported]=$(builtin compgen -e)
  for name in ${__ttyward_s[exported]}; do
    case $name in
      _ | PWD | OLDPWD | SHLVL | *[!A-Za-z0-9_]*) ;;
      *) text+="\${#$name}=\${$name-};" ;;
    esac
  done
  builtin eval "__ttyward_values() { tw_snapshot=\"$text\"; }"
}

# What changes how a line is read, to `tw_out`.
__ttyward_report_reading() {
  local ifs=0 cut=0 functions=${__ttyward_s[functions]//$'\n'/ } aliases="${!BASH_ALIASES[*]}" values= name
  __ttyward_s[reading]=$tw_snapshot
  [[ $tw_ifs == $' \t\n' ]] && ifs=1
  if ((${#functions} > 32768)); then functions=${functions:0:32768} functions=${functions% *} cut=1; fi
  if ((${#aliases} > 8192)); then aliases=${aliases:0:8192} aliases=${aliases% *} cut=1; fi
  for name in "${!BASH_ALIASES[@]}"; do values+="$name=${BASH_ALIASES[$name]}"$'\x1f'; done
  if ((${#values} > 16384)); then values=; fi
  tw_out+=$'\e]633;Reading;'
  __ttyward_escape "$aliases"
  tw_out+="${__ttyward_s[text]};"
  __ttyward_escape "$functions"
  tw_out+="${__ttyward_s[text]};${tw_options//:/ };$ifs;"
  name=${LC_CTYPE:-${LANG-}}
  __ttyward_escape "${LC_ALL:-$name}"
  tw_out+="${__ttyward_s[text]:0:128};$cut;"
  __ttyward_escape "$values"
  tw_out+="${__ttyward_s[text]};$__ttyward_nonce"$'\a'
}

# What changed, to `tw_out`.
__ttyward_report() {
  local IFS=$'\n' tw_name tw_value tw_changes=
  local -A tw_now
  __ttyward_s[snapshot]=$tw_snapshot
  for tw_name in ${__ttyward_s[exported]}; do
    case $tw_name in
      _ | PWD | OLDPWD | SHLVL | *[!A-Za-z0-9_]*) continue ;;
    esac
    tw_now[$tw_name]=1
    tw_value=${!tw_name-}
    [[ ${__ttyward_env[$tw_name]-} == "=$tw_value" ]] && continue
    if ((${#tw_changes} > 65536)); then
      __ttyward_s[snapshot]=  # the rest at the next prompt
      continue
    fi
    __ttyward_env[$tw_name]="=$tw_value"
    case ${tw_name^^}=$tw_value in
      *TOKEN*=* | *SECRET*=* | *PASSW*=* | *PASSPHRASE*=* | *KEY*=* | *AUTH*=* | *CRED*=* | *PRIVATE*=* | *CERT*=* | \
        *PWD=* | *_PAT=* | *DSN=* | *://*:*@*)
        tw_changes+=$'\e]633;EnvSingleHidden;'$tw_name\;$__ttyward_nonce$'\a'
        continue
        ;;
    esac
    if ((${#tw_value} > 4096)); then
      tw_changes+=$'\e]633;EnvSingleHidden;'$tw_name\;$__ttyward_nonce$'\a'
    else
      __ttyward_escape "$tw_value"
      tw_changes+=$'\e]633;EnvSingleEntry;'$tw_name\;${__ttyward_s[text]}\;$__ttyward_nonce$'\a'
    fi
  done
  for tw_name in "${!__ttyward_env[@]}"; do
    [[ $tw_name == 0 || ${tw_now[$tw_name]-} ]] && continue
    builtin unset "__ttyward_env[$tw_name]"
    tw_changes+=$'\e]633;EnvSingleDelete;'$tw_name\;$__ttyward_nonce$'\a'
  done
  if [[ $tw_changes ]]; then
    tw_out+=$'\e]633;EnvSingleStart;0;'$__ttyward_nonce$'\a'$tw_changes$'\e]633;EnvSingleEnd;'$__ttyward_nonce$'\a'
  fi
}

# How the command ended and where, to `tw_out`.
__ttyward_end() {
  __ttyward_s[ran]=0
  if [[ $__ttyward_next ]]; then __ttyward_nonce=$__ttyward_next __ttyward_next= __ttyward_s[ran]=1; fi
  if [[ ${__ttyward_s[literal]} ]]; then __ttyward_s[ran]=1; fi  # not known then
  tw_p=${tw_b:-$tw_p}
  tw_p=${tw_p//[!0-9|]} tw_p=${tw_p%|}  # without what IFS has put between them
  if [[ $PWD == *[\\\;[:cntrl:]]* ]]; then
    __ttyward_escape "$PWD"
    tw_out+=$'\e]633;P;Cwd='"${__ttyward_s[text]};$__ttyward_nonce"$'\a'
  else
    tw_out+=$'\e]633;P;Cwd='"$PWD;$__ttyward_nonce"$'\a'
  fi
  if [[ ${__ttyward_s[seen]} ]]; then tw_out+=$'\e]633;D;'"$tw_s;$tw_p;${__ttyward_s[ran]};$__ttyward_nonce"$'\a'; fi
}

# The first thing before a prompt: the status, before anybody else's hook takes its time or fails. Not there as
# long as nobody else has a hook.
__ttyward_first() {
  local tw_s=$? tw_p="${PIPESTATUS[*]/%/|}" tw_b="${BP_PIPESTATUS[*]/%/|}" tw_out=
  local - IFS='|'
  set -f +aeuvx
  __ttyward_check || return "$tw_s"
  __ttyward_end
  __ttyward_s[done]=1 __ttyward_s[status]=$tw_s
  __ttyward_put "$tw_out"
  return "$tw_s"
}

# For PS0: where the history stands, in the keys of __ttyward_h.
__ttyward_note_history() {
  builtin unset "__ttyward_h[x${__ttyward_s[history]-}]" "__ttyward_h[q${__ttyward_s[history]-}]"
  __ttyward_s[history]=${HISTCMD-}
  __ttyward_h[x${HISTCMD-}]=
}

# The last thing before a prompt: by now a theme has made its PS1. $1: where the shell's standard error is.
__ttyward_last() {
  local tw_s=$? tw_p="${PIPESTATUS[*]/%/|}" tw_b="${BP_PIPESTATUS[*]/%/|}" tw_out= tw_tty=${1-2} tw_ifs=${IFS- } tw_options=$SHELLOPTS:$BASHOPTS
  local - IFS='|'
  set -f +aeuvx
  # After a command that cannot have changed anything here there is nothing to check, to install or to report: the
  # terminal says so by the nonce it gave to that command. Only texts are touched, since a command might pretend.
  # PROMPT_COMMAND is ours alone if it has one entry; a line that is new in the history has to be noted, or PS0 would
  # tell of it with the next command.
  if [[ ! -R __ttyward_next && ! -R __ttyward_nonce && ! -R __ttyward_quiet && ! -R __ttyward_dir && \
    ! -R __ttyward_h && ${__ttyward_h@a} == A && ${__ttyward_h[q${HISTCMD-}]+noted} && \
    $__ttyward_next == *q && $__ttyward_quiet && @HISTORY@ == 0 && ${#PROMPT_COMMAND[@]} == 1 && \
    ! -e $__ttyward_dir/typed && $PWD != *[\\\;[:cntrl:]]* && -t $tw_tty && ! ${__ttyward_nonce@a} ]]; then
    __ttyward_nonce=$__ttyward_next __ttyward_next=
    tw_p=${tw_p//[!0-9|]}
    builtin printf '\e]633;P;Cwd=%s;%s\a\e]633;D;%s;%s;1;%s\a\e]633;A;%s\a' "$PWD" "$__ttyward_nonce" "$tw_s" "${tw_p%|}" \
      "$__ttyward_nonce" "$__ttyward_nonce" >&"$tw_tty"
    return "$tw_s"
  fi
  __ttyward_check || return "$tw_s"
  if [[ ${__ttyward_s[done]} ]]; then
    tw_s=${__ttyward_s[status]}
  else
    __ttyward_end
  fi
  if [[ -e $__ttyward_dir/typed ]]; then
    __ttyward_put "$tw_out"
    tw_out=
    __ttyward_drop
  fi
  # Prompts that go elsewhere are seen by nobody. Only one with an expansion can mark a command's start on the terminal
  # then, so promptvars is on until standard error is the terminal again.
  if [[ -t $tw_tty ]]; then
    if [[ ${__ttyward_s[promptvars]-} ]]; then builtin shopt -u promptvars; fi
    __ttyward_s[promptvars]=
  elif [[ $BASHOPTS != *promptvars* ]]; then
    builtin shopt -s promptvars
    __ttyward_s[promptvars]=1
  fi
  __ttyward_install
  if [[ @ENVIRONMENT@ == 1 ]] && [[ ${__ttyward_s[ran]} != 0 || ! ${__ttyward_s[seen]} ]]; then __ttyward_environment; fi
  __ttyward_s[done]= __ttyward_s[seen]=1
  tw_out+=$'\e]633;A;'"$__ttyward_nonce"$'\a'
  # PS0 and the prompt go to standard error: marks may be in them as long as that is the terminal.
  if [[ -t $tw_tty ]]; then
    __ttyward_note_history
    __ttyward_h[q${HISTCMD-}]=
    builtin printf %s "$tw_out" >&"$tw_tty"
  else
    __ttyward_note_history
    __ttyward_put "$tw_out"$'\e]633;B;'"$__ttyward_nonce"$'\a'
  fi
  return "$tw_s"
}

# Runs in a subshell made by PS0, after a command was read and before it runs; where the mark alone will not do.
__ttyward_exec() {
  set +aeuvx
  local entry= out=
  entry=$(HISTTIMEFORMAT= builtin history 1)
  if [[ $entry =~ ^\ *([0-9]+)[*]?\ \ (.*)$ && ! ${__ttyward_h["x${HISTCMD-}"]+old} ]]; then
    entry=${BASH_REMATCH[2]}
    if [[ ${#entry} -le 16384 ]]; then
      __ttyward_escape "$entry"
      out=$'\e]633;E;'${__ttyward_s[text]}\;$__ttyward_next$'\a'
    fi
  fi
  __ttyward_put "$out"$'\e]633;C;'"$__ttyward_next"$'\a'
}

# Puts the hooks where they belong; run before each prompt, because themes and "source ~/.bashrc" move them.
__ttyward_install() {
  local IFS= now literal=
  # Without promptvars the prompts are taken literally, and so must the nonce be in them.
  [[ $BASHOPTS == *promptvars* ]] || literal=$__ttyward_nonce
  now="${PROMPT_COMMAND[*]-}${#PROMPT_COMMAND[@]}${PS0-}${PS1-}${PS2-}${HISTCONTROL-}${precmd_functions[*]-}$literal"
  if [[ $now != "${__ttyward_s[installed]}" ]]; then
    __ttyward_put_in_place
    __ttyward_s[installed]="${PROMPT_COMMAND[*]-}${#PROMPT_COMMAND[@]}${PS0-}${PS1-}${PS2-}${HISTCONTROL-}${precmd_functions[*]-}$literal"
  fi
}

__ttyward_put_in_place() {
  local first='@FIRST@' last='@LAST@' entry
  local -a others=()
  local -A known=()
  if [[ ${bash_preexec_imported-}${__bp_imported-} ]]; then
    # It owns PROMPT_COMMAND and would take our entries for typed commands.
    for entry in "${precmd_functions[@]}"; do
      [[ $entry == __ttyward_* ]] || others+=("$entry")
    done
    precmd_functions=(__ttyward_first "${others[@]}" __ttyward_last)
  elif ((BASH_VERSINFO[0] > 5 || (BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1))); then
    # "PROMPT_COMMAND=…", typed or of a file that is read again, replaces element 0 only; element 900 stays. So our
    # first one shares element 0 with the user's: theirs goes when they empty it.
    for entry in "${PROMPT_COMMAND[@]}"; do
      entry=${entry#"$first"$'\n'} entry=${entry//"$first"/:}
      [[ ! $entry || $entry == : || $entry == "$last" || ${known[$entry]-} ]] && continue
      known[$entry]=1
      others+=("$entry")
    done
    PROMPT_COMMAND=()
    ((${#others[@]} > 0)) && PROMPT_COMMAND=("$first"$'\n'"${others[0]}" "${others[@]:1}")
    PROMPT_COMMAND[900]=$last
  else
    entry=${PROMPT_COMMAND-}
    if [[ ! $entry || $entry == "$last" ]]; then
      PROMPT_COMMAND=$last
    elif [[ $entry != "$first"*"$last" ]]; then
      entry=${entry//"$first"/:}
      entry=${entry//"$last"/:}
      PROMPT_COMMAND=$first$'\n'$entry$'\n'$last
    fi
  fi

  # By name, so that an exported PS1 gives nothing away.
  local n='${__ttyward_next:-${__ttyward_nonce-}}' take start
  take='${__ttyward_h[=${__ttyward_next:=$(<"${__ttyward_dir-}/next")}${__ttyward_next:=${__ttyward_nonce-}}]-}'
  # A line that is new in the history is told of with the mark, and that takes a subshell.
  start='${__ttyward_h[q${HISTCMD-}]+\e]633;C;${__ttyward_next-}\a}'
  start+='${__ttyward_h[q${HISTCMD-}]-$({ __ttyward_exec; } 2>/dev/null)}'
  PS0=${PS0-} PS1=${PS1-} PS2=${PS2-}
  if [[ ${__ttyward_s[literal]} ]]; then
    PS0=${PS0//"\\e]633;C;${__ttyward_s[literal]}\\a"}
    PS1=${PS1//"\\[\\e]633;B;${__ttyward_s[literal]}\\a\\]"}
    PS2=${PS2//"\\[\\e]633;F;${__ttyward_s[literal]}\\a\\]"} PS2=${PS2//"\\[\\e]633;G;${__ttyward_s[literal]}\\a\\]"}
  fi
  __ttyward_s[literal]=$literal
  if [[ $literal ]]; then
    PS0=${PS0//"$take$start"}
    PS1=${PS1//"\\[\\e]633;B;$n\\a\\]"}
    PS2=${PS2//"\\[\\e]633;F;$n\\a\\]"} PS2=${PS2//"\\[\\e]633;G;$n\\a\\]"}
    n=$literal take= start="\\e]633;C;$literal\\a"
  fi
  if [[ $PS1 != *"\\[\\e]633;B;$n\\a\\]"* ]]; then PS1+="\\[\\e]633;B;$n\\a\\]"; fi
  if [[ $PS2 != *"\\[\\e]633;G;$n\\a\\]"* ]]; then PS2="\\[\\e]633;F;$n\\a\\]$PS2\\[\\e]633;G;$n\\a\\]"; fi
  if [[ $PS0 != *"$take$start"* ]]; then PS0+=$take$start; fi
  if [[ @HISTORY@ == 0 ]]; then
    case :${HISTCONTROL-}: in
      *:ignorespace:* | *:ignoreboth:*) ;;
      *) HISTCONTROL=${HISTCONTROL:+$HISTCONTROL:}ignorespace ;;
    esac
  fi
}

[[ $__ttyward_allexport == *a* ]] && set -a
unset __ttyward_allexport

# Read by a shell that has read its own files.
if [[ @AGAIN@ == 1 ]]; then
  { __ttyward_install; } 2>/dev/null
  return 0
fi

# What bash would have read. /etc/bash.bashrc is read by bash itself, where it was built to do so.
if [[ @LOGIN@ == 1 ]]; then
  if [[ -r /etc/profile ]]; then . /etc/profile; fi
  if [[ -r ~/.bash_profile ]]; then
    . ~/.bash_profile
  elif [[ -r ~/.bash_login ]]; then
    . ~/.bash_login
  elif [[ -r ~/.profile ]]; then
    . ~/.profile
  fi
elif [[ -r ~/.bashrc ]]; then
  . ~/.bashrc
fi
{ __ttyward_install; } 2>/dev/null
