import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ErrorPipe, openErrorPipe } from '../../process/output.ts'
import { makeTemporaryFolder } from '../../process/temporary-folder.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { type EventSpec, ON_DUE } from '../../stream/operations/operation.ts'
import { checkText } from '../../stream/text.ts'
import { formatTimeSpan, parseDuration, timeoutFromInput } from '../../stream/time/durations.ts'
import { timePoint } from '../../stream/values.ts'
import { messageText } from '../work-event.ts'
import { readProgramFile } from './program-file.ts'

/** Maximum size of the file, bytes. */
const MOST_BYTES = 64 * 1_024

const open = new Set<string>()

/** `undefined` if the file cannot be created: disk full, no folder for temporary files. */
export function outputFile(): OutputFile | undefined {
  try {
    return new OutputFile()
  } catch {
    return undefined
  }
}

/** The file in which a program reports more than its exit code, in its own folder; only this user can read both. */
export class OutputFile {
  readonly folder: string
  readonly path: string
  /** For the stderr of the program. Created at once, in parallel with the other preparations. */
  readonly errorPipe: Promise<ErrorPipe | undefined>

  /** @throws the system's error if the file cannot be created */
  constructor() {
    this.folder = makeTemporaryFolder()
    if (open.size === 0) process.on('exit', removeAll)
    open.add(this.folder)
    this.path = join(this.folder, 'output')
    writeFileSync(this.path, '', { mode: 0o600, flag: 'wx' })
    this.errorPipe = openErrorPipe(this.folder)
  }

  /** @throws InvalidValue if the content is not valid */
  read(): string {
    const bytes = readProgramFile(this.path, MOST_BYTES)
    if (bytes.length > MOST_BYTES) throw new InvalidValue(`it has more than ${MOST_BYTES / 1_024} KiB`)
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      throw new InvalidValue('it is not UTF-8')
    }
  }

  /** Never throws: a leftover file in the folder for temporary files does no harm. */
  remove(): void {
    remove(this.folder)
    void this.#removeLast()
  }

  /** The pipe may not have been created yet. */
  async #removeLast(): Promise<void> {
    const pipe = await this.errorPipe
    pipe?.discard()
    remove(this.folder)
    open.delete(this.folder)
    if (open.size === 0) process.off('exit', removeAll)
  }
}

function removeAll(): void {
  for (const folder of open) remove(folder)
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {}
}

/** The attributes of new events. */
export type Attributes = Omit<EventSpec, 'name' | 'msg'>

/** The parsed output of a program: successors and message of its event. */
export interface ProgramOutput {
  readonly next?: string
  /** Names, or events with attributes of their own. */
  readonly forks?: readonly (string | EventSpec)[]
  readonly join?: string
  readonly steps?: readonly string[]
  readonly msg?: string
  readonly attributes: Attributes
}

const ATTRIBUTE_OF: Readonly<Record<string, keyof Attributes>> = {
  topic: 'topic',
  key: 'key',
  tag: 'tag',
  ref: 'ref',
  trackingId: 'trackingId',
  'tracking-id': 'trackingId',
  timeout: 'timeout',
  onDue: 'onDue',
  'on-due': 'onDue',
  'wait-for': 'signal',
  delay: 'delay',
  at: 'wake',
  after: 'after',
}

const ATTRIBUTE_KEYS = 'topic, key, tag, ref, tracking-id, timeout, on-due, wait-for, delay, at, after'
const KEYS = `next, fork, join, steps, msg, ${ATTRIBUTE_KEYS}`

/**
 * Parses the content of `LEASECTL_OUTPUT`: lines `KEY=VALUE`, or `KEY<<END`, lines of text and a line `END`. Empty lines are
 * ignored; `fork` may be repeated, all other keys occur once.
 *
 * @throws InvalidValue with the line number of the first error
 */
export function readOutput(text: string): ProgramOutput {
  const pairs = pairsIn(text.replaceAll('\r\n', '\n').split('\n'))
  const output: Mutable<ProgramOutput> = { attributes: {} }
  const seen = new Set<string>()
  for (const { key, value, line } of pairs) {
    const name = ATTRIBUTE_OF[key] ?? key
    if (seen.has(name) && name !== 'fork') throw wrong(line, `${key} occurs twice`)
    seen.add(name)
    inLine(line, () => assign(output, key, value))
  }
  if (output.join !== undefined && output.forks === undefined)
    throw new InvalidValue('join needs fork: whose branches does it wait for?')
  return output
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

interface Pair {
  readonly key: string
  readonly value: string
  /** Line number, starting at 1. */
  readonly line: number
}

function pairsIn(lines: readonly string[]): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < lines.length; at++) {
    const text = lines[at] ?? ''
    if (text.trim() === '') continue
    const line = at + 1
    const [, key = '', sign, rest = ''] = /^([A-Za-z-]+)(=|<<)(.*)$/s.exec(text) ?? []
    if (sign === undefined) throw wrong(line, 'expected KEY=VALUE or KEY<<END')
    if (sign === '=') {
      pairs.push({ key, value: rest, line })
      continue
    }
    const end = rest.trim() === '' ? -1 : lines.indexOf(rest, at + 1)
    if (end < 0) throw wrong(line, `the line that ends ${key.slice(0, 40)}<< is missing`)
    pairs.push({ key, value: lines.slice(at + 1, end).join('\n'), line })
    at = end
  }
  return pairs
}

function assign(output: Mutable<ProgramOutput>, key: string, value: string): void {
  const attribute = Object.hasOwn(ATTRIBUTE_OF, key) ? ATTRIBUTE_OF[key] : undefined
  if (attribute !== undefined)
    output.attributes = { ...output.attributes, [attribute]: attributeValue(attribute, value) }
  else if (key === 'next' || key === 'join') output[key] = nameIn(key, value)
  else if (key === 'fork') output.forks = [...(output.forks ?? []), ...forksIn(value)]
  else if (key === 'steps') output.steps = namesIn(key, value)
  // The text of a message is never an error: it is cleaned.
  else if (key === 'msg') output.msg = messageText(value)
  else throw new InvalidValue(`unknown key ${key.slice(0, 40)}; known are ${KEYS}`)
}

/** `A,B`, or with attributes as `--fork` takes them: `Search:key=a,Search:key=b`. */
function forksIn(value: string): (string | EventSpec)[] {
  return value.split(',').map(text => {
    const { name = '', ...fields } = forkFields(text.trim())
    const given = Object.entries(fields).map(([field, value]) => {
      const attribute = Object.hasOwn(ATTRIBUTE_OF, field) ? ATTRIBUTE_OF[field] : undefined
      if (attribute !== undefined) return [attribute, attributeValue(attribute, value)]
      throw new InvalidValue(`unknown attribute ${field.slice(0, 40)} of fork; known are ${ATTRIBUTE_KEYS}`)
    })
    return given.length === 0 ? nameIn('fork', name) : { ...Object.fromEntries(given), name: nameIn('fork', name) }
  })
}

/** `NAME:key=a:at=2026-11-20T14:00Z`: a colon that no `WORD=` follows belongs to the text before it. @throws InvalidValue */
export function forkFields(text: string): Readonly<Record<string, string>> {
  const [name = '', ...parts] = text.split(/:(?=[A-Za-z-]+=)/)
  const fields = new Map([['name', name]])
  for (const part of parts) {
    const at = part.indexOf('=')
    const attribute = part.slice(0, at)
    if (fields.has(attribute)) throw new InvalidValue(`${attribute} occurs twice`)
    fields.set(attribute, part.slice(at + 1))
  }
  return Object.fromEntries(fields)
}

function namesIn(key: string, value: string): string[] {
  return value.split(',').map(name => nameIn(key, name.trim()))
}

function attributeValue(name: keyof Attributes, value: string): string | readonly string[] {
  if (name === 'timeout') return timeoutFromInput(value)
  if (name === 'after') return namesIn(name, value)
  if (name === 'delay') return formatTimeSpan(parseDuration(value))
  if (name === 'wake') return timePoint(value, 'at')
  if (name === 'onDue' && !(ON_DUE as readonly string[]).includes(value))
    throw new InvalidValue(`on-due is one of ${ON_DUE.join(', ')}`)
  checkText(name, value)
  return value
}

function nameIn(key: string, value: string): string {
  if (value.trim() === '') throw new InvalidValue(`${key}: a name is empty`)
  checkText(key, value)
  return value
}

function inLine(line: number, read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw wrong(line, error.message)
  }
}

function wrong(line: number, why: string): InvalidValue {
  return new InvalidValue(`line ${line}: ${why}`)
}
