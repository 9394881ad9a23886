import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { UsageError } from '../../cli/problem.ts'
import { choice } from '../../cli/values.ts'

/** A value of the configuration with the place that errors name. */
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

/** The whole of a file. @throws UsageError for what is no YAML of its own: several documents, unknown tags, too deep */
export function readYaml(text: string, file: string): ConfigField {
  const lines = new LineCounter()
  const document = parsed(text, file, lines)
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) throw new UsageError(`${file}: ${faultText(fault)}`, { cause: fault })
  return { where: file, node: document.contents, source: { file, lines } }
}

/** What a mapping holds, by its keys, of which only those are known. Nothing at all is an empty one. */
export function mappingOf(
  { where, node, source }: ConfigField,
  known: readonly string[],
): ReadonlyMap<string, ConfigField> {
  if (node === null) return new Map()
  if (!isMap(node)) throw new UsageError(`${where} is no mapping`, { hint: `of ${known.join(', ')}` })
  const fields = new Map<string, ConfigField>()
  for (const { key, value } of node.items) {
    const place = `${source.file}${lineOf(key, source)}`
    if (!isScalar(key) || typeof key.value !== 'string') {
      throw new UsageError(`${place}: a key is not a text`, { hint: `Known are ${known.join(', ')}.` })
    }
    choice(place, known)(key.value)
    fields.set(key.value, fieldOf(value, `${place}: ${key.value}`, source))
  }
  return fields
}

/** The items of a list; `undefined` for what is none. */
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

/** What stands there, as the parsers of flags want it: `0.2` and `20%` alike. */
export function textOf({ node, where }: ConfigField): string {
  if (!isScalar(node)) throw new UsageError(`${where} is no single value`)
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
  // few lines of aliases can stand for millions of values
  if (isAlias(node)) throw new UsageError(`${where} is an alias`, { hint: 'Write out what it stands for.' })
  return { where, node: isMap(node) || isSeq(node) || isScalar(node) ? node : null, source }
}

function lineOf(key: unknown, { lines }: Source): string {
  const offset = isScalar(key) || isMap(key) || isSeq(key) || isAlias(key) ? key.range?.[0] : undefined
  return offset === undefined ? '' : `, line ${lines.linePos(offset).line}`
}

function faultText({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'it holds several documents'
  if (message.startsWith('Maximum call stack')) return 'it is nested too deeply'
  // what follows is an excerpt
  return (message.split('\n')[0] ?? message).replace(/:$/, '')
}
