# Hooks for an interactive bash, 4.4 or later. Read in place of ~/.bashrc, which it reads itself.
#
# Marks are OSC 633 and end with this shell's nonce. They are written to /dev/tty, because a command may have
# redirected the shell's own output. Everything here is defined before the user's files are read, so that no
# alias of theirs gets into it, and nothing is ever exported, so that no program started here knows the nonce.
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
__ttyward_pipe=0
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

# Which exported variables changed since the last prompt. Names that sound like secrets keep their values.
__ttyward_environment() {
  local IFS=$'\n' name value out= names
  local -A now=()
  names=$(builtin compgen -e)
  for name in $names; do
    case $name in
      _ | PWD | OLDPWD | SHLVL | *[!A-Za-z0-9_]*) continue ;;
    esac
    now[$name]=1
    value=${!name-}
    [[ ${__ttyward_env[$name]-} == "=$value" ]] && continue
    ((${#out} > 65536)) && continue
    __ttyward_env[$name]="=$value"
    case ${name^^}=$value in
      *TOKEN*=* | *SECRET*=* | *PASSW*=* | *PASSPHRASE*=* | *KEY*=* | *AUTH*=* | *CRED*=* | *PRIVATE*=* | *CERT*=* | \
        *PWD=* | *_PAT=* | *DSN=* | *://*:*@*)
        out+=$'\e]633;EnvSingleHidden;'$name\;$__ttyward_nonce$'\a'
        continue
        ;;
    esac
    if ((${#value} > 4096)); then
      out+=$'\e]633;EnvSingleHidden;'$name\;$__ttyward_nonce$'\a'
    else
      __ttyward_escape "$value"
      out+=$'\e]633;EnvSingleEntry;'$name\;$__ttyward_text\;$__ttyward_nonce$'\a'
    fi
  done
  for name in "${!__ttyward_env[@]}"; do
    [[ ${now[$name]-} ]] && continue
    builtin unset "__ttyward_env[$name]"
    out+=$'\e]633;EnvSingleDelete;'$name\;$__ttyward_nonce$'\a'
  done
  [[ $out ]] && __ttyward_put $'\e]633;EnvSingleStart;0;'$__ttyward_nonce$'\a'"$out"$'\e]633;EnvSingleEnd;'$__ttyward_nonce$'\a'
}

__ttyward_finish() {
  __ttyward_done=1
  if [[ $__ttyward_seen ]]; then
    __ttyward_put $'\e]633;D;'"$__ttyward_status;$__ttyward_pipe;$__ttyward_ran;$__ttyward_nonce"$'\a'
  fi
}

# The first thing before a prompt: the status, before anybody else's hook takes its time or fails.
__ttyward_first() {
  local s=$? p=("${BP_PIPESTATUS[@]-${PIPESTATUS[@]}}")
  local - IFS='|'
  set +aeuvx
  __ttyward_status=$s __ttyward_pipe=${p[*]}
  __ttyward_finish
  return "$s"
}

# The last thing before a prompt: by now a theme has made its PS1.
__ttyward_last() {
  local s=$? p=("${BP_PIPESTATUS[@]-${PIPESTATUS[@]}}")
  local - IFS='|'
  set +aeuvx
  if [[ ! $__ttyward_done ]]; then
    __ttyward_status=$s __ttyward_pipe=${p[*]}
    __ttyward_finish
  fi
  s=$__ttyward_status
  if [[ @ENVIRONMENT@ == 1 ]] && [[ $__ttyward_ran != 0 || ! $__ttyward_seen ]]; then __ttyward_environment; fi
  __ttyward_done= __ttyward_ran=0 __ttyward_seen=1
  __ttyward_install
  __ttyward_escape "$PWD"
  __ttyward_put $'\e]633;P;Cwd='"$__ttyward_text;$__ttyward_nonce"$'\a\e]633;A;'"$__ttyward_nonce"$'\a'
  return "$s"
}

# Runs in a subshell made by PS0, after a command was read and before it runs.
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
  local first='{ __ttyward_first; } 2>/dev/null' last='{ __ttyward_last; } 2>/dev/null' entry
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
    if [[ ${PROMPT_COMMAND[0]-} != "$first"* || ${PROMPT_COMMAND[900]-} != "$last" ]]; then
      for entry in "${PROMPT_COMMAND[@]}"; do
        [[ ! $entry || $entry == "$first" || $entry == "$last" || ${known[$entry]-} ]] && continue
        known[$entry]=1
        others+=("$entry")
      done
      PROMPT_COMMAND=("$first" "${others[@]}")
      PROMPT_COMMAND[900]=$last
    fi
  elif [[ ${PROMPT_COMMAND-} != "$first"*"$last" ]]; then
    entry=${PROMPT_COMMAND-}
    entry=${entry//"$first"/:}
    entry=${entry//"$last"/:}
    PROMPT_COMMAND=$first$'\n'$entry$'\n'$last
  fi

  # By name, so that an exported PS1 gives nothing away.
  local b='${__ttyward_b-}' f='${__ttyward_f-}' g='${__ttyward_g-}'
  shopt -q promptvars || { b=$__ttyward_b f=$__ttyward_f g=$__ttyward_g; }
  if [[ ${PS1-} != *"$b"* ]]; then PS1="${PS1-}\\[$b\\]"; fi
  if [[ ${PS2-} != *"$g"* ]]; then PS2="\\[$f\\]${PS2-}\\[$g\\]"; fi
  if [[ ${PS0-} != *__ttyward_exec* ]]; then
    PS0=${PS0-}'${PS0:$((__ttyward_ran+=1,0)):0}$({ __ttyward_exec; } 2>/dev/null)'
  fi
  if [[ @HISTORY@ == 0 ]]; then
    case :${HISTCONTROL-}: in
      *:ignorespace:* | *:ignoreboth:*) ;;
      *) HISTCONTROL=${HISTCONTROL:+$HISTCONTROL:}ignorespace ;;
    esac
  fi
  __ttyward_histcmd=${HISTCMD-}
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
