import { visibleText } from '../../util/visible-text.ts'
import { jsonTimeOf, orNull } from '../json.ts'
import { dataJsonOrNull, dataSizeText } from './data.ts'
import { agoText, type HeaderOptions } from './header.ts'
import { type ShownStream, timeOf } from './view.ts'

/** The signals that the stream keeps for events to come, below its events; empty without any. */
export function signalLines(shown: ShownStream, options: HeaderOptions): string[] {
  const { signals = [] } = shown
  if (signals.length === 0) return []
  const lines = signals.map(({ name, at, by, data }) => {
    const who = by === '' ? '' : `, by ${visibleText(by)}`
    const what = data === undefined ? '' : `, ${visibleText(data.type)}, ${dataSizeText(data)}`
    return `  ${visibleText(name)}${agoText(shown, timeOf(shown, at), options)}${who}${what}`
  })
  return ['', 'Signals kept for events to come', ...lines]
}

/** The same as JSON, oldest first. */
export function signalsJson({ signals = [] }: ShownStream) {
  return signals.map(({ name, at, by, commandId, data }) => ({
    name,
    at: jsonTimeOf(at),
    by: orNull(by),
    commandId: orNull(commandId),
    data: dataJsonOrNull(data),
  }))
}
