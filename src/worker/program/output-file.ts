import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ErrorPipe, openErrorPipe } from '../../process/output.ts'
import { makeTemporaryFolder } from '../../process/temporary-folder.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { type EventSpec, isOnDue, ON_DUE } from '../../stream/operations/operation.ts'
import { checkText } from '../../stream/text.ts'
import { timeoutFromInput } from '../../stream/time/durations.ts'
import { errorCode } from '../../util/errors.ts'
import { messageText } from '../work-event.ts'

/** More than this no program has to say. */
const MOST_BYTES = 64 * 1_024

const open = new Set<string>()

/** `undefined` where none can be made: no room, no folder for temporary files. */
export function outputFile(): OutputFile | undefined {
  try {
    return new OutputFile()
  } catch {
    return undefined
  }
}

/** The file in which a program may say more than its exit code does, in a folder of its own; both readable by us alone. */
export class OutputFile {
  readonly folder: string
  readonly path: string
  /** For the stderr of the program. Made at once: whatever else has to be done before the program begins takes as long. */
  readonly errorPipe: Promise<ErrorPipe | undefined>

  /** @throws the system's error where no file can be made */
  constructor() {
    this.folder = makeTemporaryFolder()
    if (open.size === 0) process.on('exit', removeAll)
    open.add(this.folder)
    this.path = join(this.folder, 'output')
    writeFileSync(this.path, '', { mode: 0o600, flag: 'wx' })
    this.errorPipe = openErrorPipe(this.folder)
  }

  /** @throws InvalidValue if it is not what a program may leave there */
  read(): string {
    const bytes = bytesOf(this.path)
    if (bytes.length > MOST_BYTES) throw new InvalidValue(`it has more than ${MOST_BYTES / 1_024} KiB`)
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      throw new InvalidValue('it is not UTF-8')
    }
  }

  /** Never fails: a file that stays in the folder for temporary ones does no harm. */
  remove(): void {
    remove(this.folder)
    void this.#removeLast()
  }

  /** The pipe may not be there yet. */
  async #removeLast(): Promise<void> {
    const pipe = await this.errorPipe
    pipe?.discard()
    remove(this.folder)
    open.delete(this.folder)
    if (open.size === 0) process.off('exit', removeAll)
  }
}

/** At most one byte more than may be. What was put in its place is neither followed nor waited for. */
function bytesOf(path: string): Uint8Array {
  const file = opened(path)
  try {
    if (!fstatSync(file).isFile()) throw new InvalidValue('it is not a file any more')
    const bytes = Buffer.alloc(MOST_BYTES + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = readSync(file, bytes, length, bytes.length - length, null)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** A named pipe without a writer would be waited for. */
function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') throw new InvalidValue('it was removed')
    if (code === 'ELOOP') throw new InvalidValue('a link was put in its place')
    throw new InvalidValue(`it cannot be read (${code ?? ''})`)
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

/** The free attributes of new events. */
export type Attributes = Omit<EventSpec, 'name' | 'msg'>

/** What follows an event, and what is said of it. */
export interface Said {
  readonly next?: string
  readonly forks?: readonly string[]
  readonly join?: string
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
}

const KEYS = 'next, fork, join, msg, topic, key, tag, ref, tracking-id, timeout, on-due'

/**
 * Reads what a program wrote to `LEASECTL_OUTPUT`: lines `KEY=VALUE`, or `KEY<<END`, lines of text and a line `END`. Empty
 * lines count for nothing; `fork` may come again, everything else once.
 *
 * @throws InvalidValue with the number of the line: nothing of it is guessed
 */
export function readOutput(text: string): Said {
  const pairs = pairsIn(text.replaceAll('\r\n', '\n').split('\n'))
  const said: Mutable<Said> = { attributes: {} }
  const seen = new Set<string>()
  for (const { key, value, line } of pairs) {
    const name = ATTRIBUTE_OF[key] ?? key
    if (seen.has(name) && name !== 'fork') throw wrong(line, `${key} stands there twice`)
    seen.add(name)
    inLine(line, () => take(said, key, value))
  }
  if (said.join !== undefined && said.forks === undefined)
    throw new InvalidValue('join needs fork: whose branches does it wait for?')
  return said
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

interface Pair {
  readonly key: string
  readonly value: string
  /** From 1 on. */
  readonly line: number
}

function pairsIn(lines: readonly string[]): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < lines.length; at++) {
    const text = lines[at] ?? ''
    if (text.trim() === '') continue
    const line = at + 1
    const [, key = '', sign, rest = ''] = /^([A-Za-z-]+)(=|<<)(.*)$/s.exec(text) ?? []
    if (sign === undefined) throw wrong(line, 'it has neither KEY=VALUE nor KEY<<END')
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

function take(said: Mutable<Said>, key: string, value: string): void {
  const attribute = Object.hasOwn(ATTRIBUTE_OF, key) ? ATTRIBUTE_OF[key] : undefined
  if (attribute !== undefined) said.attributes = { ...said.attributes, [attribute]: attributeValue(attribute, value) }
  else if (key === 'next' || key === 'join') said[key] = nameIn(key, value)
  else if (key === 'fork')
    said.forks = [...(said.forks ?? []), ...value.split(',').map(name => nameIn(key, name.trim()))]
  // a message ends nothing because of its text
  else if (key === 'msg') said.msg = messageText(value)
  else throw new InvalidValue(`there is no key ${key.slice(0, 40)}; there are ${KEYS}`)
}

function attributeValue(name: keyof Attributes, value: string): string {
  if (name === 'timeout') return timeoutFromInput(value)
  if (name === 'onDue' && !isOnDue(value)) throw new InvalidValue(`on-due is one of ${ON_DUE.join(', ')}`)
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
