import { visibleText } from '../../../util/visible-text.ts'
import type { KeyPress, Screen, State } from '../state.ts'
import { KEYS, type KeyBinding, TEXT_KEYS } from './table.ts'

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

/** The binding of a key on the current screen; `undefined` if it does nothing there. */
export function bindingFor(
  { key }: Pick<KeyPress, 'key'>,
  { screen, pane }: Pick<State, 'screen' | 'pane'>,
): KeyBinding | undefined {
  return BY_KEY.get(key)?.find(binding => worksOn(binding, screen) && (binding.panes?.includes(pane) ?? true))
}

/** What a key without a meaning on the screen does elsewhere. Safe to print. */
export function elsewhereText({ key }: Pick<KeyPress, 'key'>): string {
  const [binding] = BY_KEY.get(key) ?? []
  const label = visibleText(keyLabel(key))
  if (binding?.screens === undefined) return `${label} has no meaning: ? shows the keys`
  return `${label} (${binding.hint ?? binding.does}) is a key of ${binding.screens.map(placeOf).join(', ')}`
}

/** `stream` alone reads like the list of streams. */
function placeOf(screen: Screen): string {
  return screen === 'stream' ? 'an open stream' : screen
}

/** True if the binding works on the screen. */
export function worksOn({ screens }: { readonly screens?: readonly Screen[] | undefined }, screen: Screen): boolean {
  return screens === undefined || screens.includes(screen)
}

/** Display name of a key: `pagedown` is `PgDn`. */
export function keyLabel(key: string): string {
  return LABELS.get(key) ?? (key.startsWith('ctrl-') ? `^${key.slice(5).toUpperCase()}` : key)
}

/** One group of the help. */
export interface HelpGroup {
  readonly title: KeyBinding['group'] | 'Texts'
  readonly lines: readonly HelpLine[]
}

export interface HelpLine {
  /** All keys of the command, `j ↓`. */
  readonly keys: string
  readonly does: string
  /** Screens where it works; all if `undefined`. */
  readonly screens: readonly Screen[] | undefined
}

/** All keys, for the help and the documentation. */
export const HELP: readonly HelpGroup[] = [
  ...Array.from(
    Map.groupBy(KEYS, ({ group }) => group),
    ([title, bindings]): HelpGroup => ({ title, lines: bindings.map(helpLine) }),
  ),
  { title: 'Texts', lines: TEXT_KEYS.map(helpLine) },
]

function byKey(): ReadonlyMap<string, readonly KeyBinding[]> {
  const found = new Map<string, KeyBinding[]>()
  for (const binding of KEYS) {
    for (const key of binding.keys) found.set(key, [...(found.get(key) ?? []), binding])
  }
  return found
}

function helpLine({ keys, does, screens }: Pick<KeyBinding, 'keys' | 'does' | 'screens'>): HelpLine {
  return { keys: keys.map(keyLabel).join(' '), does, screens }
}
