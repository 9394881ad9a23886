import { parseDocument, visit } from 'yaml'
import { UsageError } from '../../cli/problem.ts'
import { choice, inFlag, requiredText, storedDuration, storedText, storedTime, timeout } from '../../cli/values.ts'
import { dataOf, type EventData } from '../../stream/data.ts'
import { type EventSpec, ON_DUE, ON_FAILURE } from '../../stream/operations/operation.ts'
import { type PlanPart, planSteps } from '../../stream/operations/plan.ts'
import { normalRetry } from '../../stream/retry-policy.ts'
import type { Template } from './template.ts'

/** The attributes of any event; in a template also written with hyphens, as the flags are. */
const ATTRIBUTES = ['topic', 'key', 'tag', 'ref', 'trackingId', 'timeout', 'onDue'] as const

/** What an event of a template waits for: the flags of the same names. */
const GATE = ['waitFor', 'delay', 'at', 'auto'] as const

/** What happens when an event of a template fails. */
const FAILURE = ['retry', 'attemptTimeout', 'undo'] as const

/** Reads a template in YAML, of which JSON is a subset. */
export function yamlTemplate(text: string): Template {
  const document = documentIn(text)
  const fields = mapping(plainValue(document), 'a template', [
    'root',
    'fork',
    'join',
    'steps',
    'hold',
    'data',
    'onFailure',
    ...FAILURE,
    ...ATTRIBUTES,
  ])
  if (fields.fork !== undefined && !Array.isArray(fields.fork))
    throw new UsageError('fork must be a list', { hint: 'fork: [A, B]' })
  if (fields.hold !== undefined && typeof fields.hold !== 'boolean') throw new UsageError('hold must be true or false')
  const forks: readonly unknown[] | undefined = fields.fork
  const steps = fields.steps === undefined ? [] : planSteps(listed('steps', fields.steps).map(planPart))
  return {
    ...attributes(fields),
    ...dataIn(fields),
    ...(fields.root === undefined ? {} : { root: requiredText('root')(scalar('root', fields.root)) }),
    ...(forks === undefined ? {} : { fork: forks.map(spec) }),
    ...(fields.join === undefined ? {} : { join: spec(fields.join) }),
    ...(steps.length === 0 ? {} : { steps }),
    ...(fields.hold === undefined ? {} : { hold: fields.hold }),
    ...failureOf(fields),
    ...(fields.onFailure === undefined
      ? {}
      : { onFailure: choice('on-failure', ON_FAILURE)(scalar('on-failure', fields.onFailure)) }),
  }
}

/** @throws UsageError with the place in the text */
function documentIn(text: string) {
  const document = parseDocument(text)
  const [fault] = document.errors
  // Behind the colon the parser draws the line.
  if (fault !== undefined) throw new UsageError((fault.message.split('\n')[0] ?? '').replace(/:$/, ''))
  return document
}

/** Reads a list of events in YAML: names, or mappings with attributes. */
export function yamlEvents(text: string): readonly EventSpec[] {
  const document = documentIn(text)
  const value = plainValue(document)
  if (!Array.isArray(value) || value.length === 0) {
    throw new UsageError('the file must hold a list of events', { hint: '- { name: Search, key: a }' })
  }
  return value.map(spec)
}

/** An event from texts: its name and attributes, as the flags spell them. */
export function eventNamed({ auto, ...texts }: Readonly<Record<string, string>>): EventSpec {
  return spec({ ...texts, ...(auto === undefined ? {} : { auto: auto === 'true' || auto === 'yes' || auto }) })
}

/** Numbers are texts, as they are written: 007 is no 7. Only data in JSON has numbers. */
function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  visit(document, {
    Pair: (_, { key }) => (String(key) === 'json' ? visit.SKIP : undefined),
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'number' && scalar.source !== undefined) scalar.value = scalar.source
    },
  })
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new UsageError('too many aliases', { cause: error })
  }
}

/** Reads a part of a plan: a step, or `parallel:` with branches. */
function planPart(value: unknown): PlanPart {
  if (isMapping(value) && 'parallel' in value) {
    const { parallel } = mapping(value, 'parallel branches', ['parallel'])
    return { parallel: listed('parallel', parallel).map(branch) }
  }
  const step = isMapping(value) ? mapping(value, 'a step', ['needs', ...EVENT]) : { name: value }
  const { needs, ...fields } = step as Readonly<Record<string, unknown>>
  return { spec: eventOf(fields), ...(needs === undefined ? {} : { needs: needsOf(needs) }) }
}

/** A branch: a step, parallel branches again, or `steps:` with a sequence. */
function branch(value: unknown): readonly PlanPart[] {
  if (!isMapping(value) || !('steps' in value)) return [planPart(value)]
  const { steps } = mapping(value, 'a branch', ['steps'])
  return listed('steps', steps).map(planPart)
}

function needsOf(value: unknown): readonly string[] {
  const needs: readonly unknown[] = Array.isArray(value) ? value : [value]
  return needs.map(name => requiredText('needs')(scalar('needs', name)))
}

function listed(name: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value
  throw new UsageError(`${name} must be a list`, { hint: `${name}: [A, B]` })
}

const EVENT = ['name', 'msg', 'data', ...ATTRIBUTES, ...GATE, ...FAILURE] as const

/** Reads an event of a template: a name, or a mapping. */
function spec(value: unknown): EventSpec {
  return eventOf(typeof value === 'object' ? mapping(value, 'an event', EVENT) : { name: value })
}

function eventOf(fields: Readonly<Record<string, unknown>>): EventSpec {
  return {
    ...attributes(fields),
    ...gateOf(fields),
    ...dataIn(fields),
    ...failureOf(fields),
    name: requiredText('name')(scalar('name', fields.name ?? '')),
    ...(fields.msg === undefined ? {} : { msg: storedText('msg', 'msg')(scalar('msg', fields.msg)) }),
  }
}

function gateOf({ waitFor, delay, at, auto }: Readonly<Record<string, unknown>>): Partial<EventSpec> {
  if (auto !== undefined && typeof auto !== 'boolean') throw new UsageError('auto must be true or false')
  return {
    ...(waitFor === undefined ? {} : { signal: requiredText('wait-for')(scalar('wait-for', waitFor)) }),
    ...(delay === undefined ? {} : { delay: storedDuration('delay')(scalar('delay', delay)) }),
    ...(at === undefined ? {} : { wake: storedTime('at')(scalar('at', at)) }),
    ...(auto === undefined ? {} : { auto }),
  }
}

function failureOf({ retry, attemptTimeout, undo }: Readonly<Record<string, unknown>>): Partial<EventSpec> {
  return {
    ...(retry === undefined ? {} : { retry: inFlag('retry', () => normalRetry(scalar('retry', retry))) }),
    ...(attemptTimeout === undefined
      ? {}
      : { attemptTimeout: storedDuration('attempt-timeout')(scalar('attempt-timeout', attemptTimeout)) }),
    ...(undo === undefined ? {} : { undo: requiredText('undo')(scalar('undo', undo)) }),
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

/** The fields of a mapping. Their names may be written with hyphens. */
function mapping(value: unknown, what: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isMapping(value)) throw new UsageError(`${what} must be a mapping`, { hint: `with ${known.join(', ')}` })
  const fields = Object.entries(value).map(([name, field]) => [withoutHyphens(name), field] as const)
  for (const [name] of fields) choice(what, known)(name)
  return Object.fromEntries(fields)
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `wait-for` → `waitFor` */
function withoutHyphens(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function scalar(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new UsageError(`${name} must be a string`)
}
