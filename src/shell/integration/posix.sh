# Marks for shells without hooks (dash, busybox ash, ksh, mksh), read through ENV. The prompts carry them.
#
# Where output begins cannot be seen at a prompt; commands handed over by file say so themselves. The line that hands
# one over names its nonce.
case $- in
*i*)
  case $- in *a*) __ttyward_allexport=1 ;; *) __ttyward_allexport= ;; esac
  set +a
  __ttyward_nonce=@NONCE@
  __ttyward_dir=@DIR@
  if [ -n "${KSH_VERSION-}" ]; then
    __ttyward_put() { print -rn -- "$1"; }
  else
    __ttyward_put() { printf %s "$1"; }
  fi
  # The text of a command, once, from the file $1; $2 is its nonce. It runs in a substitution, so what it sets is gone
  # afterwards.
  __ttyward_take() {
    __ttyward_s=$?
    __ttyward_put "@ESC@]633;C;$2@BEL@" >/dev/tty
    command -p cat "$__ttyward_dir/$1"
    : >|"$__ttyward_dir/$1"
    return "$__ttyward_s"
  }
  # Throws away what was typed and not read. There is such a file if anything was typed since the last prompt that
  # must not become a command.
  __ttyward_drop() {
    __ttyward_d=$?
    if [ -e "$__ttyward_dir/typed" ]; then
      __ttyward_s=$(command -p stty -g </dev/tty) &&
        command -p stty -icanon -echo min 0 time 1 </dev/tty && command -p cat </dev/tty >/dev/null
      command -p stty "$__ttyward_s" </dev/tty
    fi
    return "$__ttyward_d"
  } 2>/dev/null
  if [ -n "$__ttyward_allexport" ]; then set -a; fi
  unset __ttyward_allexport
  ;;
esac

if [ @AGAIN@ != 1 ]; then
  if [ @HAS_ENV@ = 1 ]; then
    ENV=@USER_ENV@
    export ENV
  else
    unset ENV
  fi
  if [ @LOGIN@ = 1 ]; then
    if [ -r /etc/profile ]; then . /etc/profile; fi
    if [ -r "${HOME-}/.profile" ]; then . "$HOME/.profile"; fi
  fi
  if [ -n "${ENV-}" ]; then
    # The value is expanded, as the shell itself would have done. A file that cannot be read is passed over.
    eval "__ttyward_rc=\"$ENV\""
    case $__ttyward_rc in /*) ;; *) __ttyward_rc=./$__ttyward_rc ;; esac
    if [ -r "$__ttyward_rc" ]; then . "$__ttyward_rc"; fi
    unset __ttyward_rc
  fi
@NATIVE_RC@
fi

case $- in
*i*)
  # By name, so that an exported PS1 gives nothing away. A path with characters the mark cannot hold is left out.
  PS1='@HIDE@@ESC@]633;P;Cwd=${PWD##*[;\\]*};${__ttyward_nonce-}@BEL@@ESC@]633;D;$?;;;${__ttyward_nonce-}@BEL@@ESC@]633;A;${__ttyward_nonce-}@BEL@@DROP@@SHOW@'"${PS1-$ }"'@HIDE@@ESC@]633;B;${__ttyward_nonce-}@BEL@@SHOW@'
  PS2='@HIDE@@ESC@]633;F;${__ttyward_nonce-}@BEL@@SHOW@'"${PS2-> }"'@HIDE@@ESC@]633;G;${__ttyward_nonce-}@BEL@@SHOW@'
  PS1="@PROMPT_LEAD@$PS1"
  ;;
esac
