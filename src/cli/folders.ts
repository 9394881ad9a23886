import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Where what is worth keeping lies, run files for example: `$XDG_STATE_HOME/leasectl`, by default below `~/.local/state`. */
export function stateFolder(env: Environment): string {
  return join(xdg(env, env.XDG_STATE_HOME, '.local', 'state'), 'leasectl')
}

/** Where settings lie: `$XDG_CONFIG_HOME/leasectl`, by default below `~/.config`. */
export function configFolder(env: Environment): string {
  return join(xdg(env, env.XDG_CONFIG_HOME, '.config'), 'leasectl')
}

/** The XDG specification has relative paths ignored. */
function xdg(env: Environment, given: string | undefined, ...usual: readonly string[]): string {
  return given?.startsWith('/') ? given : join(env.HOME ?? env.USERPROFILE ?? '.', ...usual)
}

/** `20261120-184302`: sorts by time, and no two of one person meet. */
export function clockName(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
}
