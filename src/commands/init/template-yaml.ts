import { parseDocument } from 'yaml'
import { UsageError } from '../../cli/problem.ts'
import { choice, requiredText, storedText, timeout } from '../../cli/values.ts'
import { type EventSpec, ON_DUE } from '../../stream/operations/operation.ts'
import type { Template } from './template.ts'

const ATTRIBUTES = ['topic', 'key', 'tag', 'ref', 'trackingId', 'timeout', 'onDue'] as const

/** Reads a template in YAML, of which JSON is a subset. */
export function yamlTemplate(text: string): Template {
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined) throw new UsageError(fault.message.split('\n')[0] ?? fault.message)
  const fields = mapping(plainValue(document), 'a template', ['root', 'fork', 'join', 'hold', ...ATTRIBUTES])
  if (fields.fork !== undefined && !Array.isArray(fields.fork))
    throw new UsageError('fork must be a list', { hint: 'fork: [A, B]' })
  if (fields.hold !== undefined && typeof fields.hold !== 'boolean') throw new UsageError('hold must be true or false')
  const forks: readonly unknown[] | undefined = fields.fork
  return {
    ...attributes(fields),
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
  const fields = mapping(value, 'an event', ['name', 'msg', ...ATTRIBUTES])
  return {
    ...attributes(fields),
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
