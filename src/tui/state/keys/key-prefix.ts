import type { ScreenContext } from '../context.ts'
import { centerCursor } from '../cursor.ts'
import { HEALTH_PARTS, showHealthPart } from '../health-parts.ts'
import type { KeyPrefix, KeyPress, State } from '../state.ts'
import { withNotice } from '../transition.ts'
import { openView } from '../views.ts'
import { keyLabel } from './keys.ts'

/** The key after one that waits for another. */
export function prefixedKey(state: State, context: ScreenContext, prefix: KeyPrefix, { key, text }: KeyPress): State {
  const after = { ...state, prefix: undefined }
  if (key === 'escape' || key === 'ctrl-c') return after
  const unknown = () => withNotice(after, context, `${PREFIX_KEYS[prefix]} ${keyLabel(key)} does nothing`, 'warn')
  switch (prefix) {
    case 'health': {
      const part = HEALTH_PARTS.find(known => known.key === key)
      return part === undefined ? unknown() : showHealthPart(after, context, part)
    }
    case 'view':
      return text === undefined || text.trim() === '' ? unknown() : openView(after, context, text)
    case 'center':
      return key === 'z' ? centerCursor(after, context) : unknown()
    default:
      return prefix satisfies never
  }
}

const PREFIX_KEYS = { health: 'f', view: "'", center: 'z' } as const

/** What can follow, for the last line of the screen; the numbers by their glyphs where there is no room for words. */
export function prefixText({ settings, size }: State, prefix: KeyPrefix): string {
  switch (prefix) {
    case 'health': {
      const words = HEALTH_PARTS.map(({ key, word }) => `${key} ${word}`).join('  ')
      return words.length < size.columns ? words : HEALTH_PARTS.map(({ key, glyph }) => `${key}${glyph}`).join(' ')
    }
    case 'view': {
      const names = Object.keys(settings.views).filter(name => Array.from(name).length === 1)
      return names.length === 0
        ? 'no view has a key yet: :view 0 saves this list as 0'
        : `view: ${names.sort().join(' ')}`
    }
    case 'center':
      return 'z  the row to the middle of the screen'
    default:
      return prefix satisfies never
  }
}
