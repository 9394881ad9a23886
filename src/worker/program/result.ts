import type { ProgramEnd } from '../../process/run-program.ts'
import type { EventData } from '../../stream/data.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { EventSpec } from '../../stream/operations/operation.ts'
import { stepSequence } from '../../stream/operations/plan.ts'
import { cleanProgramText, cutBytes, TEXT_LIMITS } from '../../stream/text.ts'
import { defined } from '../../util/defined.ts'
import type { WorkResult } from '../types.ts'
import { type Attributes, type ProgramOutput, readOutput } from './output-file.ts'

/** Default successors of an event whose program exited with 0; the program can name others. */
export interface ProgramSuccessors {
  readonly next?: string
  /** Names, or events with attributes of their own. */
  readonly forks?: readonly (string | EventSpec)[]
  readonly join?: string
  /** Attributes of all new events. */
  readonly attributes?: Attributes
}

/** The result of a program, and further messages. */
export interface ProgramEnding {
  readonly ending: WorkResult
  /** Message of the event, set before an advance, which takes no message. */
  readonly msg?: string
  /** Why the output of the program is not valid; the event has failed because of it. */
  readonly badOutput?: string
}

/** Reads what a program has left. Each throws InvalidValue if it cannot be used. */
export interface ProgramReport {
  /** Its output, see `readOutput`. */
  output(): string
  /** The result of its event. */
  result(): EventData | undefined
}

/** The exit code of a failure that passes: https://man.openbsd.org/sysexits.3 */
const EX_TEMPFAIL = 75

/** The result of a program that ended by itself. */
export function programEnding(end: ProgramEnd, report: ProgramReport, successors: ProgramSuccessors): ProgramEnding {
  const output = orProblem(() => readOutput(report.output()))
  const result = orProblem(() => report.result())
  const data = typeof result === 'object' ? { result } : {}
  if (end.fate.kind !== 'exited' || end.fate.code !== 0) {
    const msg = (typeof output === 'object' && output.msg) || failureText(end)
    const lost = typeof result === 'string' ? `\n${RESULT} cannot be used: ${result}` : ''
    const isTransient = end.fate.kind === 'exited' && end.fate.code === EX_TEMPFAIL
    return {
      ending: {
        op: 'fail',
        msg: `${cutBytes(msg, TEXT_LIMITS.msg - Buffer.byteLength(lost))}${lost}`,
        ...(isTransient ? { transient: true } : {}),
        ...data,
      },
    }
  }
  if (typeof output === 'string') return failed(output)
  if (typeof result === 'string') return failed(result, RESULT)
  const { next, forks, join, steps }: ProgramSuccessors & Pick<Partial<ProgramOutput>, 'steps'> = namesSuccessors(
    output,
  )
    ? output
    : successors
  const attributes = { ...successors.attributes, ...output.attributes }
  const msg = defined({ msg: output.msg })
  if (!namesSuccessors({ next, forks, steps })) {
    if (Object.keys(output.attributes).length > 0) return failed('attributes belong to new events, and it names none')
    return { ending: { op: 'complete', ...msg, ...data } }
  }
  const spec = (event: string | EventSpec): EventSpec => ({
    ...attributes,
    ...(typeof event === 'string' ? { name: event } : event),
  })
  return {
    ending: {
      op: 'advance',
      ...defined({
        next: next === undefined ? undefined : spec(next),
        forks: forks?.map(spec),
        join: join === undefined ? undefined : spec(join),
        steps: steps && stepSequence(steps, attributes),
      }),
      ...data,
    },
    ...msg,
  }
}

function namesSuccessors({ next, forks, steps }: { [Name in 'next' | 'forks' | 'steps']?: unknown }): boolean {
  return next !== undefined || forks !== undefined || steps !== undefined
}

const RESULT = 'LEASECTL_RESULT'

function failed(why: string, file = 'LEASECTL_OUTPUT'): ProgramEnding {
  const badOutput = `${file} cannot be used: ${why}`
  return { ending: { op: 'fail', msg: `ended with 0, but ${badOutput}` }, badOutput }
}

/** What the program has left, or why it is not valid. */
function orProblem<Left extends object | undefined>(read: () => Left): Left | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof InvalidValue) return error.message
    throw error
  }
}

function failureText({ fate, tail }: ProgramEnd): string {
  return lastLines(tail.bytes(), tail.isCut) || fateText(fate)
}

/** `exit 3`, `killed by SIGKILL`. */
export function fateText(fate: ProgramEnd['fate']): string {
  switch (fate.kind) {
    case 'exited':
      return `exit ${fate.code}`
    case 'killed':
      return `killed by ${fate.signal}`
    case 'not-started':
      return `it cannot be started (${fate.reason})`
    case 'stopped':
      return 'stopped'
    default:
      return fate satisfies never
  }
}

const MOST_LINES = 10
/** Maximum length of the text that is cleaned, bytes: cleaning is slow for long texts. */
const MOST_BYTES = 8 * 1_024

/**
 * The last lines of a program's output as a `msg`: as a terminal would finally show them, without escape sequences.
 *
 * @param bytes the end of the output
 * @param isCut whether output before it was dropped: then the first line may be incomplete
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
