import { KEYS, type KeyBinding } from './keys.ts'
import type { KeyPress, Screen, State } from './state.ts'

const LABELS: ReadonlyMap<string, string> = new Map([
  ['up', '↑'],
  ['down', '↓'],
  ['left', '←'],
  ['right', '→'],
  ['pageup', 'PgUp'],
  ['pagedown', 'PgDn'],
  ['escape', 'esc'],
  ['f1', 'F1'],
])

const BY_KEY: ReadonlyMap<string, readonly KeyBinding[]> = byKey()

/** What a key does on the screen that is shown; `undefined` for one that does nothing there. */
export function bindingFor({ key }: Pick<KeyPress, 'key'>, { screen }: Pick<State, 'screen'>): KeyBinding | undefined {
  return BY_KEY.get(key)?.find(binding => worksOn(binding, screen))
}

/** True where the binding is of use. */
export function worksOn({ screens }: Pick<KeyBinding, 'screens'>, screen: Screen): boolean {
  return screens === undefined || screens.includes(screen)
}

/** How a key is called on the screen: `pagedown` is `PgDn`. */
export function keyLabel(key: string): string {
  return LABELS.get(key) ?? (key.startsWith('ctrl-') ? `^${key.slice(5).toUpperCase()}` : key)
}

/** One group of the help. */
export interface HelpGroup {
  readonly title: KeyBinding['group']
  readonly lines: readonly HelpLine[]
}

export interface HelpLine {
  /** All keys that do it, `j ↓`. */
  readonly keys: string
  readonly does: string
  /** Where it works; everywhere without it. */
  readonly screens: readonly Screen[] | undefined
}

/** All keys, for the help and the documentation. */
export const HELP: readonly HelpGroup[] = Array.from(
  Map.groupBy(KEYS, ({ group }) => group),
  ([title, bindings]) => ({ title, lines: bindings.map(helpLine) }),
)

function byKey(): ReadonlyMap<string, readonly KeyBinding[]> {
  const found = new Map<string, KeyBinding[]>()
  for (const binding of KEYS) {
    for (const key of binding.keys) found.set(key, [...(found.get(key) ?? []), binding])
  }
  return found
}

function helpLine({ keys, does, screens }: KeyBinding): HelpLine {
  return { keys: keys.map(keyLabel).join(' '), does, screens }
}
