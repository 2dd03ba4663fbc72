# Hooks for an interactive bash, 4.4 or later. Read in place of ~/.bashrc, which it reads itself.
#
# Marks are OSC 633 and end with this shell's nonce. They are written to the terminal itself, because a command may
# have redirected the shell's own output. Everything here is defined before the user's files are read, so that no
# alias of theirs gets into it, and nothing is ever exported, so that no program started here knows the nonce.
#
# It runs with every command, so nothing here starts a process on the way of one that an agent sends.
__ttyward_allexport=$-
set +a
__ttyward_nonce=@NONCE@
__ttyward_dir=@DIR@
__ttyward_b=$'\e]633;B;'$__ttyward_nonce$'\a'
__ttyward_f=$'\e]633;F;'$__ttyward_nonce$'\a'
__ttyward_g=$'\e]633;G;'$__ttyward_nonce$'\a'
__ttyward_ran=0
__ttyward_seen=
__ttyward_done=
__ttyward_status=0
__ttyward_cwd=
__ttyward_cwd_text=
__ttyward_names=
__ttyward_snapshot=
__ttyward_installed=
__ttyward_c=()
__ttyward_c_mark=$'\e]633;C;'$__ttyward_nonce$'\a'
declare -A __ttyward_env=()

# OSC 633's escapes for $1, in __ttyward_text.
__ttyward_escape() {
  local LC_ALL=C v=$1
  v=${v//\\/\\\\}
  v=${v//;/\\x3b}
  if [[ $v == *[[:cntrl:]]* ]]; then
    v=${v//$'\n'/\\x0a} v=${v//$'\t'/\\x09} v=${v//$'\e'/\\x1b} v=${v//$'\a'/\\x07} v=${v//$'\r'/\\x0d}
    v=${v//[[:cntrl:]]/?}
  fi
  __ttyward_text=$v
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

# Which exported variables changed since the last prompt. Names that sound like secrets keep their values. What is
# local here and in those who call it must not hide a variable of the user's: thus the prefix.
__ttyward_environment() {
  local IFS= tw_names= tw_snapshot=
  # By way of a file, because a command substitution is a process; and not truncated, because then some file
  # systems write it out each time. No name has = in it.
  { builtin compgen -e -W = 1<>"$__ttyward_dir/names" && builtin read -r -d = tw_names <"$__ttyward_dir/names"; } ||
    tw_names=$(builtin compgen -e)
  if [[ $tw_names != "$__ttyward_names" ]]; then __ttyward_remember "$tw_names"; fi
  __ttyward_values
  if [[ $tw_snapshot != "$__ttyward_snapshot" ]]; then __ttyward_report; fi
}

# Makes the function that puts all values into `tw_snapshot`: whether any of them changed is then one comparison.
__ttyward_remember() {
  local IFS=$'\n' name text=
  __ttyward_names=$1
  for name in $1; do
    case $name in
      _ | PWD | OLDPWD | SHLVL | *[!A-Za-z0-9_]*) ;;
      *) text+="\${#$name}=\${$name-};" ;;
    esac
  done
  builtin eval "__ttyward_values() { tw_snapshot=\"$text\"; }"
}

# What changed, to `tw_out`.
__ttyward_report() {
  local IFS=$'\n' tw_name tw_value tw_changes=
  local -A tw_now=()
  __ttyward_snapshot=$tw_snapshot
  for tw_name in $tw_names; do
    case $tw_name in
      _ | PWD | OLDPWD | SHLVL | *[!A-Za-z0-9_]*) continue ;;
    esac
    tw_now[$tw_name]=1
    tw_value=${!tw_name-}
    [[ ${__ttyward_env[$tw_name]-} == "=$tw_value" ]] && continue
    if ((${#tw_changes} > 65536)); then
      __ttyward_snapshot=  # the rest at the next prompt
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
      tw_changes+=$'\e]633;EnvSingleEntry;'$tw_name\;$__ttyward_text\;$__ttyward_nonce$'\a'
    fi
  done
  for tw_name in "${!__ttyward_env[@]}"; do
    [[ ${tw_now[$tw_name]-} ]] && continue
    builtin unset "__ttyward_env[$tw_name]"
    tw_changes+=$'\e]633;EnvSingleDelete;'$tw_name\;$__ttyward_nonce$'\a'
  done
  if [[ $tw_changes ]]; then
    tw_out+=$'\e]633;EnvSingleStart;0;'$__ttyward_nonce$'\a'$tw_changes$'\e]633;EnvSingleEnd;'$__ttyward_nonce$'\a'
  fi
}

# The first thing before a prompt: the status, before anybody else's hook takes its time or fails. Not there as
# long as nobody else has a hook.
__ttyward_first() {
  local s=$? p=("${BP_PIPESTATUS[@]-${PIPESTATUS[@]}}")
  local - IFS='|'
  set +aeuvx
  __ttyward_done=1 __ttyward_status=$s
  if [[ $__ttyward_seen ]]; then __ttyward_put $'\e]633;D;'"$s;${p[*]};$__ttyward_ran;$__ttyward_nonce"$'\a'; fi
  return "$s"
}

# The last thing before a prompt: by now a theme has made its PS1. $1: where the shell's standard error is.
__ttyward_last() {
  local tw_s=$? tw_p=("${BP_PIPESTATUS[@]-${PIPESTATUS[@]}}") tw_out= tw_tty=${1-2}
  local - IFS='|'
  set +aeuvx
  if [[ $__ttyward_done ]]; then
    tw_s=$__ttyward_status
  elif [[ $__ttyward_seen ]]; then
    tw_out=$'\e]633;D;'"$tw_s;${tw_p[*]};$__ttyward_ran;$__ttyward_nonce"$'\a'
  fi
  if [[ @ENVIRONMENT@ == 1 ]] && [[ $__ttyward_ran != 0 || ! $__ttyward_seen ]]; then __ttyward_environment; fi
  __ttyward_done= __ttyward_ran=0 __ttyward_seen=1
  __ttyward_install
  if [[ $PWD != "$__ttyward_cwd" ]]; then
    __ttyward_escape "$PWD"
    __ttyward_cwd=$PWD __ttyward_cwd_text=$__ttyward_text
  fi
  tw_out+=$'\e]633;P;Cwd='"$__ttyward_cwd_text;$__ttyward_nonce"$'\a\e]633;A;'"$__ttyward_nonce"$'\a'
  # PS0 goes to standard error: the mark may be in it as long as that is the terminal.
  if [[ -t $tw_tty ]]; then
    __ttyward_c[1]=$__ttyward_c_mark
    builtin printf %s "$tw_out" >&"$tw_tty"
  else
    __ttyward_c=()
    __ttyward_put "$tw_out"
  fi
  return "$tw_s"
}

# Runs in a subshell made by PS0, after a command was read and before it runs; where the mark alone will not do.
__ttyward_exec() {
  set +aeuvx
  local entry= out=
  if [[ ${HISTCMD-} != "$__ttyward_histcmd" ]]; then
    entry=$(HISTTIMEFORMAT= builtin history 1)
    if [[ $entry =~ ^\ *[0-9]+[*]?\ \ (.*)$ ]]; then
      entry=${BASH_REMATCH[1]}
      if ((${#entry} <= 16384)); then
        __ttyward_escape "$entry"
        out=$'\e]633;E;'$__ttyward_text\;$__ttyward_nonce$'\a'
      fi
    fi
  fi
  __ttyward_put "$out"$'\e]633;C;'"$__ttyward_nonce"$'\a'
}

# Puts the hooks where they belong; run before each prompt, because themes and "source ~/.bashrc" move them.
__ttyward_install() {
  local IFS= now
  __ttyward_histcmd=${HISTCMD-}
  now="${PROMPT_COMMAND[*]-}${#PROMPT_COMMAND[@]}${PS0-}${PS1-}${PS2-}${HISTCONTROL-}${precmd_functions[*]-}"
  if [[ $now != "$__ttyward_installed" ]]; then
    __ttyward_put_in_place
    __ttyward_installed="${PROMPT_COMMAND[*]-}${#PROMPT_COMMAND[@]}${PS0-}${PS1-}${PS2-}${HISTCONTROL-}${precmd_functions[*]-}"
  fi
}

__ttyward_put_in_place() {
  local first='{ __ttyward_first; } 2>/dev/null' last='{ __ttyward_last 3; } 3>&2 2>/dev/null' entry
  local -a others=()
  local -A known=()
  if [[ ${bash_preexec_imported-}${__bp_imported-} ]]; then
    # It owns PROMPT_COMMAND and would take our entries for typed commands.
    for entry in "${precmd_functions[@]}"; do
      [[ $entry == __ttyward_* ]] || others+=("$entry")
    done
    precmd_functions=(__ttyward_first "${others[@]}" __ttyward_last)
  elif ((BASH_VERSINFO[0] > 5 || (BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1))); then
    # "PROMPT_COMMAND=…" of a file that is read again replaces element 0 only; element 900 stays.
    for entry in "${PROMPT_COMMAND[@]}"; do
      [[ ! $entry || $entry == "$first" || $entry == "$last" || ${known[$entry]-} ]] && continue
      known[$entry]=1
      others+=("$entry")
    done
    PROMPT_COMMAND=()
    ((${#others[@]} > 0)) && PROMPT_COMMAND=("$first" "${others[@]}")
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
  local b='${__ttyward_b-}' f='${__ttyward_f-}' g='${__ttyward_g-}'
  shopt -q promptvars || { b=$__ttyward_b f=$__ttyward_f g=$__ttyward_g; }
  if [[ ${PS1-} != *"$b"* ]]; then PS1="${PS1-}\\[$b\\]"; fi
  if [[ ${PS2-} != *"$g"* ]]; then PS2="\\[$f\\]${PS2-}\\[$g\\]"; fi
  if [[ ${PS0-} != *__ttyward_exec* ]]; then
    # A line that is new in the history is told of with the mark, and that takes a subshell.
    PS0=${PS0-}'${PS0:$((__ttyward_ran+=1,0)):0}'
    PS0+='${__ttyward_c[${HISTCMD:-0} == ${__ttyward_histcmd:-0}]:-$({ __ttyward_exec; } 2>/dev/null)}'
  fi
  if [[ @HISTORY@ == 0 ]]; then
    case :${HISTCONTROL-}: in
      *:ignorespace:* | *:ignoreboth:*) ;;
      *) HISTCONTROL=${HISTCONTROL:+$HISTCONTROL:}ignorespace ;;
    esac
  fi
}

[[ $__ttyward_allexport == *a* ]] && set -a
unset __ttyward_allexport

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
