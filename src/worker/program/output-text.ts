import { InvalidValue } from '../../stream/errors.ts'
import { type EventSpec, isOnDue, ON_DUE } from '../../stream/operations/operation.ts'
import { checkText } from '../../stream/text.ts'
import { timeoutFromInput } from '../../stream/time/timeouts.ts'
import { messageText } from '../endings.ts'

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
