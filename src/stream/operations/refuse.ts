import type { StreamEvent } from '../event.ts'
import type { Refusal, RefusalCode } from './operation.ts'

/** A refusal about one event: its code, its status and a sentence that says what would be legal. */
export function refuse(code: RefusalCode, event: StreamEvent, message: string): Refusal {
  const { owner, until } = event.lc
  const claim = code === 'claimed' || code === 'fenced'
  return {
    code,
    event: event.id,
    status: event.status,
    message,
    ...(claim && owner !== undefined ? { owner } : {}),
    ...(claim && until !== undefined ? { until } : {}),
  }
}
