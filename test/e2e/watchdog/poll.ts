import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until there is a result. @throws the description of the condition, when it takes too long */
export async function eventually<Answer>(
  what: string,
  ask: () => Answer | undefined | Promise<Answer | undefined>,
  { withinMs = 20_000, everyMs = 50 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<Answer> {
  const untilAt = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > untilAt) throw new Error(`not within ${withinMs / 1_000} s: ${what}`)
    await sleep(everyMs)
  }
}
