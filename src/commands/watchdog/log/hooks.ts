import type { DeliveryReport } from '../../../watchdog/hooks/delivery.ts'
import { type HookPace, paceText } from '../../../watchdog/hooks/lag.ts'
import type { Entry, Level } from './entries.ts'
import { shortTime } from './times.ts'

const LEVELS: { readonly [Of in DeliveryReport['outcome']]: Level } = {
  delivered: 'debug',
  retrying: 'warn',
  'given-up': 'error',
  left: 'info',
}

/** A try to deliver to a hook. */
export function deliveryEntry(report: DeliveryReport): Entry {
  const { kind: hook, stream, deliveryId, target, outcome, tries, tookMs, code, output } = report
  const tried = outcome === 'delivered' ? '' : ` [${code}]${output === '' ? '' : `: ${output}`}`
  return {
    level: LEVELS[outcome],
    kind: 'hook',
    stream,
    text: `on-${hook} ${target}: ${WORDS[outcome]}, try ${tries} took ${shortTime(tookMs)}${tried}`,
    fields: { hook, target, outcome, deliveryId, tries, tookMs: Math.round(tookMs), code, output },
  }
}

const WORDS: { readonly [Of in DeliveryReport['outcome']]: string } = {
  delivered: 'delivered',
  retrying: 'failed, is tried again',
  'given-up': 'failed for good, nothing delivers it any more',
  left: 'left to the next watchdog',
}

/** Hooks fell behind, or have caught up. */
export function paceEntry(pace: HookPace): Entry {
  const level = pace.kind === 'caught-up' ? 'info' : 'warn'
  return { level, kind: 'hooks', text: paceText(pace), fields: 'waiting' in pace ? { waiting: pace.waiting } : {} }
}
