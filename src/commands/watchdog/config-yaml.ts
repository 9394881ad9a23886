import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { UsageError } from '../../cli/problem.ts'
import { choice } from '../../cli/values.ts'

/** A value of the configuration with its position for error messages. */
export interface ConfigField {
  /** `watchdog.yaml, line 3: interval`. */
  readonly where: string
  readonly node: Node | null
  readonly source: Source
}

interface Source {
  readonly file: string
  readonly lines: LineCounter
}

/** Reads a whole file. @throws UsageError for broken YAML, several documents, unknown tags and excessive nesting */
export function readYaml(text: string, file: string): ConfigField {
  const lines = new LineCounter()
  const document = parsed(text, file, lines)
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) throw new UsageError(`${file}: ${faultText(fault)}`, { cause: fault })
  return { where: file, node: document.contents, source: { file, lines } }
}

/** The fields of a mapping by key; other keys than `known` are errors. An empty value counts as an empty mapping. */
export function mappingOf(
  { where, node, source }: ConfigField,
  known: readonly string[],
): ReadonlyMap<string, ConfigField> {
  if (node === null) return new Map()
  if (!isMap(node)) throw new UsageError(`${where} is not a mapping`, { hint: `of ${known.join(', ')}` })
  const fields = new Map<string, ConfigField>()
  for (const { key, value } of node.items) {
    const place = `${source.file}${lineOf(key, source)}`
    if (!isScalar(key) || typeof key.value !== 'string') {
      throw new UsageError(`${place}: a key is not a string`, { hint: `Known keys: ${known.join(', ')}.` })
    }
    choice(place, known)(key.value)
    fields.set(key.value, fieldOf(value, `${place}: ${key.value}`, source))
  }
  return fields
}

/** The items of a list; `undefined` if the field is not a list. */
export function itemsOf({ node, where, source }: ConfigField): readonly ConfigField[] | undefined {
  if (!isSeq(node)) return undefined
  return node.items.map((item, at) => fieldOf(item, `${where}, item ${at + 1}`, source))
}

export function isMapping({ node }: ConfigField): boolean {
  return isMap(node)
}

export function isText({ node }: ConfigField): boolean {
  return isScalar(node) && node.value !== null
}

/** The text of a scalar as it is written, as flag parsers expect it: both `0.2` and `20%`. */
export function textOf({ node, where }: ConfigField): string {
  if (!isScalar(node)) throw new UsageError(`${where} is not a single value`)
  if (node.value === null) throw new UsageError(`${where} is empty`, { hint: 'Give it a value, or leave it out.' })
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
}

function parsed(text: string, file: string, lineCounter: LineCounter) {
  try {
    return parseDocument(text, { lineCounter, version: '1.2' })
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new UsageError(`${file} is nested too deeply`, { cause })
  }
}

function fieldOf(node: unknown, where: string, source: Source): ConfigField {
  // A few lines of aliases can expand to millions of values.
  if (isAlias(node)) throw new UsageError(`${where} is an alias`, { hint: 'Write out its value.' })
  return { where, node: isMap(node) || isSeq(node) || isScalar(node) ? node : null, source }
}

function lineOf(key: unknown, { lines }: Source): string {
  const offset = isScalar(key) || isMap(key) || isSeq(key) || isAlias(key) ? key.range?.[0] : undefined
  return offset === undefined ? '' : `, line ${lines.linePos(offset).line}`
}

function faultText({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'it contains several documents'
  if (message.startsWith('Maximum call stack')) return 'it is nested too deeply'
  // The other lines are an excerpt of the file.
  return (message.split('\n')[0] ?? message).replace(/:$/, '')
}
