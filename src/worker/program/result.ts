import type { ProgramEnd } from '../../process/run-program.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { EventSpec } from '../../stream/operations/operation.ts'
import { cleanProgramText, TEXT_LIMITS } from '../../stream/text.ts'
import type { WorkResult } from '../types.ts'
import { type Attributes, readOutput, type Said } from './output-file.ts'

/** What follows an event whose program ended with 0, unless the program says so itself. */
export interface ProgramSuccessors {
  readonly next?: string
  readonly forks?: readonly string[]
  readonly join?: string
  /** Of all new events. */
  readonly attributes?: Attributes
}

/** An ending, with what else is to be told. */
export interface ProgramEnding {
  readonly ending: WorkResult
  /** Said of the event before it is advanced, which has no message of its own. */
  readonly msg?: string
  /** Why what the program said cannot be used; it has failed for it. */
  readonly badOutput?: string
}

/** How the event of a program that ended by itself ends. @param read what the program said, see `readOutput` */
export function programEnding(end: ProgramEnd, read: () => string, successors: ProgramSuccessors): ProgramEnding {
  const said = saidIn(read)
  if (end.fate.kind !== 'exited' || end.fate.code !== 0) {
    const msg = (typeof said === 'object' && said.msg) || failureText(end)
    return { ending: { op: 'fail', msg } }
  }
  if (typeof said === 'string') return failed(said)
  const { next, forks, join } = said.next === undefined && said.forks === undefined ? successors : said
  const attributes = { ...successors.attributes, ...said.attributes }
  const msg = said.msg === undefined ? {} : { msg: said.msg }
  if (next === undefined && forks === undefined) {
    if (Object.keys(said.attributes).length > 0) return failed('attributes belong to new events, and it names none')
    return { ending: { op: 'complete', ...msg } }
  }
  const spec = (name: string): EventSpec => ({ ...attributes, name })
  return {
    ending: {
      op: 'advance',
      ...(next === undefined ? {} : { next: spec(next) }),
      ...(forks === undefined ? {} : { forks: forks.map(spec) }),
      ...(join === undefined ? {} : { join: spec(join) }),
    },
    ...msg,
  }
}

function failed(why: string): ProgramEnding {
  return { ending: { op: 'fail', msg: `ended with 0, but LEASECTL_OUTPUT cannot be used: ${why}` }, badOutput: why }
}

/** What the program said, or why that cannot be used. */
function saidIn(read: () => string): Said | string {
  try {
    return readOutput(read())
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
