import { isUndo, type StreamEvent } from '../../../src/stream/event.ts'
import type { Transaction } from '../../../src/stream/journal/journal.ts'
import type { KeptSignal } from '../../../src/stream/signal.ts'
import type { Answer } from './register.ts'

/** What the rules of sessions and signals look at: the last document of a stream. */
export interface Written {
  readonly journal: readonly Transaction[]
  readonly events: readonly StreamEvent[]
  readonly signals: readonly KeptSignal[]
}

/**
 * Appended steps are there once, in the order of their sender, and each begins only when the one before has been passed: by
 * the journal alone.
 */
export function sessionFaults({ journal, events }: Written, answers: readonly Answer[]): string[] {
  const appends = journal.flatMap(({ op, commandId, changes }) => {
    const id = op === 'append' ? changes.find(({ how }) => how === 'add')?.event : undefined
    return id === undefined ? [] : [{ id, commandId }]
  })
  const faults = answers.flatMap(({ commandId, kind }) => {
    if (commandId.endsWith(':end') || kind !== 'done') return []
    const times = events.filter(({ tag, prev }) => tag === commandId && prev === '00').length
    const entries = appends.filter(append => append.commandId === commandId).length
    return times === 1 && entries === 1 ? [] : [`${commandId} was appended ${times} times, with ${entries} entries`]
  })
  const sent = new Map<string, number>()
  for (const { commandId } of appends) {
    const [sender = '', number = ''] = commandId.split(':')
    if (Number(number) !== (sent.get(sender) ?? 0)) faults.push(`${commandId} is out of its order`)
    sent.set(sender, Number(number) + 1)
  }
  return [...faults, ...orderFaults(journal)]
}

function orderFaults(journal: readonly Transaction[]): string[] {
  const order: string[] = []
  const passed = new Set<string>()
  const faults: string[] = []
  for (const { op, on, version, changes } of journal) {
    const before = order[order.indexOf(on) - 1]
    if (op === 'start' && before !== undefined && !passed.has(before)) {
      faults.push(`${on} began in version ${version}, before ${before} was passed`)
    }
    if (op === 'skip') passed.add(on)
    for (const { event, to, how, attr } of changes) {
      if (attr !== undefined) continue
      if (op === 'append' && how === 'add') order.push(event)
      if (to === 'completed') passed.add(event)
      else if (op !== 'skip') passed.delete(event)
    }
  }
  return faults
}

/** The data of each signal that was taken or kept is there once; each signal that came opened one gate, or is kept. */
export function signalFaults({ journal, events, signals }: Written, answers: readonly Answer[]): string[] {
  const entries = journal.filter(({ op }) => op === 'signal')
  return answers.flatMap(({ commandId, kind }) => {
    const written = entries.filter(entry => entry.commandId === commandId).length
    const taken = events.filter(event => event.input?.text === commandId && !isUndo(event)).length
    const kept = signals.filter(signal => signal.commandId === commandId).length
    const expected = kind === 'done' ? 1 : 0
    const isRight = kind === 'given-up' ? taken + kept === written : written === expected && taken + kept === expected
    return isRight ? [] : [`signal ${commandId}, ${kind}: ${written} entries, taken ${taken} times, kept ${kept} times`]
  })
}
