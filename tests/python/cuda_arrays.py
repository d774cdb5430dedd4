"""Arrays in device memory by CUDA's driver alone, for tests on machines without CuPy and PyTorch. They hand themselves
over by DLPack as those libraries do: the consumer's stream waits for what is queued on theirs."""

import ctypes
import gc
from ctypes import byref, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p

import numpy as np


def load_driver():
    """libcuda with device 0's context, the runtime's, current; None without a driver or device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, context = c_int32(), c_void_p()
    if driver.cuInit(0) or driver.cuDeviceGet(byref(device), 0):
        return None
    if driver.cuDevicePrimaryCtxRetain(byref(context), device) or driver.cuCtxSetCurrent(context):
        return None
    return driver


driver = load_driver()


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    assert status == 0, f"{name}: {status}"


def free_memory():
    free, total = c_size_t(), c_size_t()
    call("cuMemGetInfo_v2", byref(free), byref(total))
    return free.value


class Stream:
    def __init__(self):
        handle = c_void_p()
        call("cuStreamCreate", byref(handle), 1)  # not blocked by the default stream
        self.handle = handle.value

    def __cuda_stream__(self):
        return 0, self.handle

    def synchronize(self):
        call("cuStreamSynchronize", c_void_p(self.handle))

    def wait_for(self, other):
        event = c_void_p()
        call("cuEventCreate", byref(event), 2)
        call("cuEventRecord", event, c_void_p(other))
        call("cuStreamWaitEvent", c_void_p(self.handle), event, 0)
        call("cuEventDestroy_v2", event)

    def capture(self, work):
        """What `work` queues, as a graph that launch() takes."""
        gc.collect()  # memory of the device that is freed meanwhile would end the capture
        graph, executable = c_void_p(), c_void_p()
        call("cuStreamBeginCapture_v2", c_void_p(self.handle), 1)  # of this thread alone
        try:
            work()
        finally:
            call("cuStreamEndCapture", c_void_p(self.handle), byref(graph))
        call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
        return executable

    def launch(self, executable):
        call("cuGraphLaunch", executable, c_void_p(self.handle))


class _Device(ctypes.Structure):
    _fields_ = [("type", c_int32), ("index", c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", _Device), ("ndim", c_int32), ("type", _Type),
                ("shape", ctypes.POINTER(c_int64)), ("strides", ctypes.POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


lent = {}  # what consumers have and have not given back, by its address


@ctypes.CFUNCTYPE(None, c_void_p)
def _give_back(address):
    del lent[address]


def _capsule_function(name, result, *arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function


_new_capsule = _capsule_function("PyCapsule_New", ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p)
_is_capsule = _capsule_function("PyCapsule_IsValid", c_int32, c_void_p, ctypes.c_char_p)
_pointer_in = _capsule_function("PyCapsule_GetPointer", c_void_p, c_void_p, ctypes.c_char_p)


@ctypes.CFUNCTYPE(None, c_void_p)
def _drop_capsule(capsule):
    """Consumers rename the capsules that they take; one that none took gives back what it has."""
    if _is_capsule(capsule, b"dltensor"):
        del lent[_pointer_in(capsule, b"dltensor")]


class DeviceArray:
    """An array at `pointer`, whose work is queued on `stream` (None: the default stream)."""

    # Whether capsules that no consumer took give back what they have. Python code cannot do that, as C code can, where
    # a capsule's end comes with an exception: tests of refusals do without.
    gives_back = True

    def __init__(self, pointer, shape, dtype, stream=None, device=0):
        self.pointer, self.shape, self.dtype, self.stream, self.device = pointer, shape, np.dtype(dtype), stream, device
        self.waits = []  # the streams that were made to wait

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, stream=None):
        own = self.stream.handle if self.stream else 1
        if stream is not None and stream != own:
            self.waits.append(stream)
            if driver:
                event = c_void_p()
                call("cuEventCreate", byref(event), 2)
                call("cuEventRecord", event, c_void_p(own))
                call("cuStreamWaitEvent", c_void_p(stream), event, 0)
                call("cuEventDestroy_v2", event)
        managed = _Managed()
        shape = (c_int64 * len(self.shape))(*self.shape)
        managed.tensor = _Tensor(self.pointer, _Device(2, self.device), len(self.shape),
                                 _Type({"f": 2, "i": 0}[self.dtype.kind], 8 * self.dtype.itemsize, 1), shape, None, 0)
        managed.deleter = ctypes.cast(_give_back, c_void_p).value
        address = ctypes.addressof(managed)
        lent[address] = (managed, shape)
        return _new_capsule(address, b"dltensor", ctypes.cast(_drop_capsule, c_void_p) if self.gives_back else None)

    @classmethod
    def from_numpy(cls, a, stream=None):
        pointer = c_uint64()
        call("cuMemAlloc_v2", byref(pointer), c_size_t(max(a.nbytes, 1)))
        array = cls(pointer.value, a.shape, a.dtype, stream)
        array.set(a)
        return array

    def set(self, a):
        call("cuMemcpyHtoD_v2", c_uint64(self.pointer), a.ctypes.data_as(c_void_p), c_size_t(a.nbytes))

    def get(self):
        a = np.empty(self.shape, self.dtype)
        call("cuMemcpyDtoH_v2", a.ctypes.data_as(c_void_p), c_uint64(self.pointer), c_size_t(a.nbytes))
        return a

    def free(self):
        call("cuMemFree_v2", c_uint64(self.pointer))
