import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Folder of persistent state such as run files: `$XDG_STATE_HOME/leasectl`, by default below `~/.local/state`. */
export function stateFolder(env: Environment): string {
  return join(xdg(env, env.XDG_STATE_HOME, '.local', 'state'), 'leasectl')
}

/** Folder of settings: `$XDG_CONFIG_HOME/leasectl`, by default below `~/.config`. */
export function configFolder(env: Environment): string {
  return join(xdg(env, env.XDG_CONFIG_HOME, '.config'), 'leasectl')
}

/** Ignores relative paths, as the XDG specification says. */
function xdg(env: Environment, given: string | undefined, ...usual: readonly string[]): string {
  return given?.startsWith('/') ? given : join(env.HOME ?? env.USERPROFILE ?? '.', ...usual)
}

/** `20261120-184302`: sorts by time, and is unique for one user at human speed. */
export function clockName(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
}
