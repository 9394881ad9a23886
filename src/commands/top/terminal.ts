import type { Runtime } from '../../cli/runtime.ts'

/** Why nothing can be drawn on a screen here; `undefined` if it can. */
export function noScreen({ stdin, stdout, env }: Pick<Runtime, 'stdin' | 'stdout' | 'env'>): string | undefined {
  if (!stdout.isTty) return 'standard output is no terminal'
  if (!stdin.isTty) return 'standard input is no terminal'
  if (env.TERM === 'dumb') return 'TERM is dumb'
  if (env.CI) return 'CI is set'
  return env.ACCESSIBLE === '1' ? 'ACCESSIBLE is set' : undefined
}
