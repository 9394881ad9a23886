import { cleanProgramText, TEXT_LIMITS } from '../../stream/text.ts'

const MOST_LINES = 10
/** Of what is cleaned; cleaning takes long for long texts. */
const MOST_BYTES = 8 * 1_024

/**
 * The last lines of what a program wrote, fit to be a `msg`: as a terminal would show them in the end, without escape
 * sequences.
 *
 * @param bytes the end of it
 * @param isCut whether something stood before: then the first line may be half of one
 */
export function lastLines(bytes: Uint8Array, isCut: boolean): string {
  const text = new TextDecoder().decode(bytes.subarray(-MOST_BYTES))
  const clean = cleanProgramText(text.replaceAll('\r\n', '\n'), MOST_BYTES * 3)
  const lines = clean.split('\n').map(line => line.replace(/^.*\r(?=.)/s, '').trimEnd())
  if (isCut && lines.length > 1) lines.shift()
  while (lines.at(-1) === '') lines.pop()
  let kept = ''
  for (const line of lines.slice(-MOST_LINES).reverse()) {
    const longer = kept === '' ? line : `${line}\n${kept}`
    if (Buffer.byteLength(longer) > TEXT_LIMITS.msg) break
    kept = longer
  }
  return (kept || cleanProgramText((lines.at(-1) ?? '').slice(-TEXT_LIMITS.msg / 4), TEXT_LIMITS.msg)).trim()
}
