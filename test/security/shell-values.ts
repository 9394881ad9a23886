/** The effect of a shell on one of these values; `SENTINEL` names the file. */
const MARK = 'touch "$SENTINEL"'

export const VALUES: readonly string[] = [
  ...[`$(${MARK})`, `\`${MARK}\``, `; ${MARK}`, `| ${MARK}`, `|| ${MARK}`, `& ${MARK}`, `&& ${MARK}`, `x; ${MARK} #`],
  ...[`'; ${MARK}; '`, `"; ${MARK}; "`, `\n${MARK}\n`, `\\\n; ${MARK}`, `<(${MARK})`, '> "$SENTINEL"', '>>"$SENTINEL"'],
  ...[
    '$SENTINEL',
    '$'.concat('{SENTINEL}'),
    '%PATH%',
    '~',
    '*',
    '?',
    '[a-z]',
    '{a,b}',
    '!!',
    '$((1+1))',
    "$'\\x41'",
    '\\',
    "'",
    '"',
  ],
  ...['-e', '--', '-c', '-', ' ', '\t', 'a b', 'é☃𝄞', '=', 'A=B', '#x', '()', '<<EOF', '\u001b[2J'],
]

/** Values that name a stream. */
export const NAMES = VALUES.filter(value => !/[\u0000-\u001f\\]|^[\s.-]|\s$/.test(value) && value.length > 1)
