import { DATA_KINDS, type DataKind, type EventData, isDataHash, MAX_DATA_BYTES } from '../data.ts'
import { LC_NAMESPACE, type StreamEvent } from '../event.ts'
import type { ParsedAttributes } from './event.ts'
import { escapeAttribute } from './text.ts'

/**
 * Data as child elements of an event: `<lc:input type bytes sha256 text|base64/>` and `<lc:result …/>`. The content is an
 * attribute: .NET writers keep line ends and white space in attributes only.
 */

/** The elements of an event, input first; nothing for an event without data. */
export function dataElements({ input, result }: Pick<StreamEvent, 'input' | 'result'>, prefix: string): string {
  return elementOf('input', input, prefix) + elementOf('result', result, prefix)
}

function elementOf(kind: DataKind, data: EventData | undefined, prefix: string): string {
  if (data === undefined) return ''
  const { type, size, sha256, text, base64 } = data
  const content =
    text === undefined ? (base64 === undefined ? '' : ` base64="${base64}"`) : ` text="${escapeAttribute(text)}"`
  return `<${prefix}:${kind} type="${escapeAttribute(type)}" bytes="${size}" sha256="${sha256}"${content}/>`
}

/** The kind of data that an element inside an event may hold. */
export function dataKindOf({ uri, local }: { readonly uri: string; readonly local: string }): DataKind | undefined {
  return uri === LC_NAMESPACE ? DATA_KINDS.find(kind => kind === local) : undefined
}

const NAMES: ReadonlySet<string> = new Set(['type', 'bytes', 'sha256', 'text', 'base64'])

/** The data of an element; `undefined` if it has another form: then it is kept as a foreign element. */
export function readData(attributes: ParsedAttributes): EventData | undefined {
  const values: Record<string, string> = {}
  for (const { uri, local, value, prefix } of Object.values(attributes)) {
    if (prefix === 'xmlns' || (prefix === '' && local === 'xmlns')) continue
    if (uri !== '' || !NAMES.has(local)) return undefined
    values[local] = value
  }
  return dataFrom(values)
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function dataFrom({ type = '', bytes = '', sha256 = '', text, base64 }: Readonly<Record<string, string>>) {
  if (type === '' || !/^\d{1,8}$/.test(bytes) || String(Number(bytes)) !== bytes || !isDataHash(sha256))
    return undefined
  const size = Number(bytes)
  if (size > MAX_DATA_BYTES || (text !== undefined && base64 !== undefined)) return undefined
  if (base64 !== undefined && !BASE64.test(base64)) return undefined
  const content = text === undefined ? (base64 === undefined ? {} : { base64 }) : { text }
  return { type, size, sha256, ...content }
}

const VALUE = '[^"<>&\\n]*(?:&(?:amp|lt|gt|quot|#x9|#xA|#xD);[^"<>&\\n]*)*'
const ELEMENT = new RegExp(
  `<lc:(input|result) type="(${VALUE})" bytes="(\\d{1,8})" sha256="([0-9a-f]{64})"(?: (text|base64)="(${VALUE})")?/>`,
  'y',
)

/**
 * The elements of an event in exactly the written form; `undefined` for any other text.
 * @param unescaped decodes the references of an attribute
 */
export function scanData(
  inner: string,
  unescaped: (value: string) => string | undefined,
): Pick<StreamEvent, 'input' | 'result'> | undefined {
  const found: { input?: EventData; result?: EventData } = {}
  let at = 0
  for (const kind of DATA_KINDS) {
    ELEMENT.lastIndex = at
    const [element = '', name, type = '', bytes = '', sha256 = '', holds, content = ''] = ELEMENT.exec(inner) ?? []
    if (name !== kind) continue
    const values = { type: unescaped(type) ?? '', bytes, sha256, ...(holds && { [holds]: unescaped(content) ?? '' }) }
    const data = dataFrom(values)
    if (data === undefined) return undefined
    found[kind] = data
    at += element.length
  }
  return at === inner.length && at > 0 ? found : undefined
}
