import type { SaxesTagNS } from 'saxes'
import { LC_NAMESPACE } from '../event.ts'
import type { KeptSignal } from '../signal.ts'
import { dataElements, dataKindOf, readData } from './data.ts'
import { escapeAttribute } from './text.ts'

/** The element `lc:signals` of kept signals, oldest first, on one line. */
export function signalsElement(signals: readonly KeptSignal[], prefix: string): string {
  const elements = signals.map(({ name, at, by, commandId, data }) => {
    const tag = `<${prefix}:signal${attributes({ name, at, by, cmd: commandId })}`
    return data === undefined ? `${tag}/>` : `${tag}>${dataElements({ input: data }, prefix)}</${prefix}:signal>`
  })
  return `<${prefix}:signals>${elements.join('')}</${prefix}:signals>`
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === '' ? '' : ` ${name}="${escapeAttribute(value)}"`))
    .join('')
}

/** Whether the tag, a direct child of the document element, holds kept signals. */
export function isSignals({ uri, local }: SaxesTagNS): boolean {
  return uri === LC_NAMESPACE && local === 'signals'
}

/** Collects the signals of all such elements. What else is in them is left out. */
export class SignalsReader {
  readonly signals: KeptSignal[] = []

  /** A tag inside the element; `depth` 1 for its direct children. */
  open(tag: SaxesTagNS, depth: number): void {
    if (depth === 1) this.#add(tag)
    else if (depth === 2 && dataKindOf(tag) === 'input') this.#addData(tag)
  }

  #add({ uri, local, attributes }: SaxesTagNS): void {
    if (uri !== LC_NAMESPACE || local !== 'signal') return
    const [name = '', at = '', by = '', commandId = ''] = ['name', 'at', 'by', 'cmd'].map(key => attributes[key]?.value)
    if (name !== '') this.signals.push({ name, at, by, commandId })
  }

  #addData(tag: SaxesTagNS): void {
    const last = this.signals.pop()
    if (last === undefined) return
    const data = readData(tag.attributes)
    this.signals.push(data === undefined || last.data !== undefined ? last : { ...last, data })
  }
}
