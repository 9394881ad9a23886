import { jsonLine } from '../formats/json.ts'
import { holderJson, holderText } from '../formats/lease.ts'
import { noPaint, type Paint } from '../formats/terminal/style.ts'
import { pad, widthOf } from '../formats/terminal/width.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import type { GlobalOptions } from './options.ts'
import type { Fact, Problem } from './problem.ts'
import type { Runtime } from './runtime.ts'

/** Column of the code after a short headline. */
const CODE_COLUMN = 80

/**
 * A problem as text: the headline with its code, then one indented line per fact.
 *
 * @param width columns of the terminal; on a narrow one the code is at its right edge
 */
export function problemLines(
  what: Problem,
  nowMs: number,
  paint: Paint = noPaint,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const headline = `error: ${visibleText(namedIn(what))}`
  const painted = paint('bad', 'error:') + headline.slice('error:'.length)
  const code = paint('dim', `[${visibleText(what.code)}]`)
  const column = Math.min(CODE_COLUMN, width - widthOf(code))
  const head = widthOf(headline) < column ? pad(painted, column) + code : `${painted}  ${code}`
  return [head, ...factsOf(what, nowMs).map(([label, text]) => `  ${label.padEnd(8)} ${text}`)]
}

/** The message, with the name of its stream made unambiguous. */
function namedIn({ message, stream }: Problem): string {
  return stream === undefined || stream === '' ? message : message.replaceAll(stream, () => visibleName(stream))
}

function factsOf(what: Problem, nowMs: number): Fact[] {
  const given = (what.facts ?? []).map(([label, text]) => [label, visibleText(text)] as const)
  const named = given.some(([label]) => label === 'held by')
  return [
    ...(what.holder !== undefined && !named ? [['held by', holderText(what.holder, nowMs)] as const] : []),
    ...given,
    ...(what.hint === undefined ? [] : [['hint', visibleText(what.hint)] as const]),
    ...(what.tryCommand === undefined ? [] : [['try', visibleText(what.tryCommand)] as const]),
  ]
}

/** A problem as JSON. Fields are only ever added. */
export function problemJson(what: Problem) {
  return {
    code: what.code,
    exit: what.exit,
    ...(what.tableExit === undefined ? {} : { tableExit: what.tableExit }),
    message: what.message,
    applied: what.applied,
    retryable: what.retryable,
    stream: what.stream ?? null,
    event: what.event ?? null,
    holder: what.holder === undefined ? null : holderJson(what.holder),
    commandId: what.commandId ?? null,
    hint: what.hint ?? null,
    try: what.tryCommand ?? null,
  }
}

/** The line on stderr with `-o json`. */
export function problemJsonLine(what: Problem): string {
  return jsonLine({ error: problemJson(what) })
}

/** Reports the problem of one of several streams on stderr, in the format of an error, while the rest continues. */
export async function tellProblem(what: Problem, { output }: GlobalOptions, runtime: Runtime): Promise<void> {
  if (output === 'json' || output === 'ndjson') await runtime.stderr.write(problemJsonLine(what))
  else await runtime.stderr.write(`${problemLines(what, runtime.nowMs()).join('\n')}\n`)
}
