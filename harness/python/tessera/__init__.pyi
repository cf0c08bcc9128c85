from tessera import language as language
from tessera import numerics as numerics
from tessera import runtime as runtime
from tessera import stdlib as stdlib
from tessera import testing as testing
from tessera._capture import capture as capture
from tessera._commands import bench as bench
from tessera._commands import replay as replay
from tessera._device import device_get as device_get
from tessera._device import device_put as device_put
from tessera._errors import CheckError as CheckError
from tessera._errors import CompileError as CompileError
from tessera._errors import Diagnostic as Diagnostic
from tessera._errors import Error as Error
from tessera._frameworks import FromJax as FromJax
from tessera._frameworks import as_jax as as_jax
from tessera._frameworks import as_torch as as_torch
from tessera._frameworks import from_jax as from_jax
from tessera._kernel import Kernel as Kernel
from tessera._kernel import jit as jit
from tessera._kernel import kernel as kernel
from tessera._module import Module as Module
from tessera._module import compile as compile
from tessera._module import load as load
from tessera._packs import pack as pack
from tessera._types import ElementType as ElementType
from tessera.language import *
from tessera.testing import check as check
from tessera.testing import verify as verify

__version__: str
