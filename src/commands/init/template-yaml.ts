import { parseDocument } from 'yaml'
import { UsageError } from '../../cli/problem.ts'
import { choice, requiredText, storedText, timeout } from '../../cli/values.ts'
import { dataOf, type EventData } from '../../stream/data.ts'
import { type EventSpec, ON_DUE } from '../../stream/operations/operation.ts'
import type { Template } from './template.ts'

const ATTRIBUTES = ['topic', 'key', 'tag', 'ref', 'trackingId', 'timeout', 'onDue'] as const

/** Reads a template in YAML, of which JSON is a subset. */
export function yamlTemplate(text: string): Template {
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined) throw new UsageError(fault.message.split('\n')[0] ?? fault.message)
  const fields = mapping(plainValue(document), 'a template', ['root', 'fork', 'join', 'hold', 'data', ...ATTRIBUTES])
  if (fields.fork !== undefined && !Array.isArray(fields.fork))
    throw new UsageError('fork must be a list', { hint: 'fork: [A, B]' })
  if (fields.hold !== undefined && typeof fields.hold !== 'boolean') throw new UsageError('hold must be true or false')
  const forks: readonly unknown[] | undefined = fields.fork
  return {
    ...attributes(fields),
    ...dataIn(fields),
    ...(fields.root === undefined ? {} : { root: requiredText('root')(scalar('root', fields.root)) }),
    ...(forks === undefined ? {} : { fork: forks.map(spec) }),
    ...(fields.join === undefined ? {} : { join: spec(fields.join) }),
    ...(fields.hold === undefined ? {} : { hold: fields.hold }),
  }
}

function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new UsageError('too many aliases', { cause: error })
  }
}

/** Reads an event of a template: a name, or a mapping. */
function spec(value: unknown): EventSpec {
  if (typeof value !== 'object') return { name: requiredText('name')(scalar('name', value)) }
  const fields = mapping(value, 'an event', ['name', 'msg', 'data', ...ATTRIBUTES])
  return {
    ...attributes(fields),
    ...dataIn(fields),
    name: requiredText('name')(scalar('name', fields.name ?? '')),
    ...(fields.msg === undefined ? {} : { msg: storedText('msg', 'msg')(scalar('msg', fields.msg)) }),
  }
}

function attributes(fields: Readonly<Record<string, unknown>>): Omit<EventSpec, 'name'> {
  const texts = ATTRIBUTES.flatMap(name => {
    const value = fields[name]
    return value === undefined || value === null ? [] : [[name, checked(name, scalar(name, value))]]
  })
  return Object.fromEntries(texts)
}

const CONTENTS = ['text', 'json', 'base64'] as const

/** Input of an event: a text, or a mapping with `text`, `json` or `base64`, and `type`. */
function dataIn({ data }: Readonly<Record<string, unknown>>): { readonly data?: EventData } {
  if (data === undefined || data === null) return {}
  if (typeof data !== 'object') return { data: dataOf(Buffer.from(scalar('data', data))) }
  const fields = mapping(data, 'data', [...CONTENTS, 'type'])
  const given = CONTENTS.filter(name => fields[name] !== undefined)
  const [content] = given
  if (content === undefined || given.length > 1) {
    throw new UsageError('data needs one of text, json and base64', { hint: 'data: { json: { id: 7 } }' })
  }
  const type = fields.type === undefined ? undefined : scalar('type', fields.type)
  return { data: dataOf(contentBytes(content, fields[content]), type) }
}

function contentBytes(name: (typeof CONTENTS)[number], value: unknown): Uint8Array {
  if (name === 'json') return Buffer.from(JSON.stringify(value))
  const text = scalar(name, value)
  if (name === 'text') return Buffer.from(text)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text.replace(/\s/g, '')) return bytes
  throw new UsageError('base64 is not valid Base64')
}

function checked(name: (typeof ATTRIBUTES)[number], text: string): string {
  if (name === 'timeout') return timeout(text)
  if (name === 'onDue') return choice('onDue', ON_DUE)(text)
  return storedText(name)(text)
}

function mapping(value: unknown, what: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${what} must be a mapping`, { hint: `with ${known.join(', ')}` })
  }
  for (const name of Object.keys(value)) choice(what, known)(name)
  return { ...value }
}

function scalar(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new UsageError(`${name} must be a string`)
}
