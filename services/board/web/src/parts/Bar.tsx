/** A bar beside its number: how much it is of the most. The number itself is in the cell before. */
export const Bar = ({ most, value }: { readonly most: number; readonly value: number }) => (
  <svg class="bar" width="100%" height="10" aria-hidden="true" preserveAspectRatio="none">
    <rect width="100%" height="10" class="rest" />
    <rect width={`${most === 0 ? 0 : (100 * value) / most}%`} height="10" class="part" />
  </svg>
)
