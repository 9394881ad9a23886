/** The parts of a failure text that vary between occurrences: ids, times, addresses, numbers. */
const VARYING = new RegExp(
  [
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`,
    String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b`,
    String.raw`\b0x[0-9a-f]+\b`,
    String.raw`\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b`,
    // codes are kept: HTTP 503 is not HTTP 404, exit code 137 is not exit code 2
    String.raw`(?<![\d.])(?<!\b(?:http|status|code|exit|errno|signal)(?:/\d(?:\.\d)?)?[\s:=(/]{1,2})\d+(?:[.,:/-]\d+)*`,
  ].join('|'),
  'gi',
)

/**
 * The text of a failure without the parts that vary between streams: `order 4711: timeout` becomes `order #: timeout`.
 * Codes are kept: numbers behind `HTTP`, `status`, `code`, `exit`, `errno` and `signal`.
 */
export function normalizeFailure(text: string): string {
  return text.replace(VARYING, '#').replace(/\s+/g, ' ').trim()
}

/** Whether a message contains a text in which `#` is any number or id, beside numbers that are meant as they are. */
export function containsFailure(message: string, text: string): boolean {
  if (!text.includes('#')) return false
  const literal = text.trim().replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  const source = literal.replaceAll(/\s+/g, String.raw`\s+`).replaceAll('#', `(?:${VARYING.source}|#)`)
  return new RegExp(source, 'i').test(message)
}
