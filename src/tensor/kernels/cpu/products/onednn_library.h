// oneDNN's C++ interface, over a library that binds to itself.
//
// PyPI's torch has a oneDNN of its own inside of libtorch_cpu. Its functions are hidden, but not
// the code that std::call_once makes for gemm_info_t::jit_init, a weak symbol of one name in every
// oneDNN. The dynamic linker takes the first for all: then one oneDNN sets up the kernels of the
// other, and small products that add to their destination fail. Where TANDEM_ONEDNN_LIBRARY is
// defined, the program is therefore not linked with oneDNN. The library of this name is loaded
// with RTLD_DEEPBIND and RTLD_LOCAL: it looks into itself first, and nobody else looks into it.
#pragma once

#ifdef TANDEM_ONEDNN_LIBRARY
#include <dnnl.h>

namespace tandem::tensor::cpu {

// A function of the library. Throws std::runtime_error where the library cannot be loaded, or has
// no such function.
void* FindInOneDnn(const char* name);

// `function` gives the type only, and is not linked.
template <auto* function>
auto* OneDnnFunction(const char* name) {
  static auto* const loaded = reinterpret_cast<decltype(function)>(FindInOneDnn(name));
  return loaded;
}

}  // namespace tandem::tensor::cpu

// The functions that dnnl.hpp calls for us, in versions 2.6 to 3.7. A function that is missing here
// is undefined when a program is linked.
#define TANDEM_ONEDNN(function) (*::tandem::tensor::cpu::OneDnnFunction<&::function>(#function))
#define dnnl_engine_create TANDEM_ONEDNN(dnnl_engine_create)
#define dnnl_engine_destroy TANDEM_ONEDNN(dnnl_engine_destroy)
#define dnnl_matmul_desc_init TANDEM_ONEDNN(dnnl_matmul_desc_init)
#define dnnl_matmul_primitive_desc_create TANDEM_ONEDNN(dnnl_matmul_primitive_desc_create)
#define dnnl_memory_create TANDEM_ONEDNN(dnnl_memory_create)
#define dnnl_memory_create_v2 TANDEM_ONEDNN(dnnl_memory_create_v2)
#define dnnl_memory_desc_clone TANDEM_ONEDNN(dnnl_memory_desc_clone)
#define dnnl_memory_desc_create_with_strides TANDEM_ONEDNN(dnnl_memory_desc_create_with_strides)
#define dnnl_memory_desc_create_with_tag TANDEM_ONEDNN(dnnl_memory_desc_create_with_tag)
#define dnnl_memory_desc_destroy TANDEM_ONEDNN(dnnl_memory_desc_destroy)
#define dnnl_memory_desc_get_size TANDEM_ONEDNN(dnnl_memory_desc_get_size)
#define dnnl_memory_desc_get_size_v2 TANDEM_ONEDNN(dnnl_memory_desc_get_size_v2)
#define dnnl_memory_desc_init_by_strides TANDEM_ONEDNN(dnnl_memory_desc_init_by_strides)
#define dnnl_memory_desc_init_by_tag TANDEM_ONEDNN(dnnl_memory_desc_init_by_tag)
#define dnnl_memory_desc_query_v2 TANDEM_ONEDNN(dnnl_memory_desc_query_v2)
#define dnnl_memory_destroy TANDEM_ONEDNN(dnnl_memory_destroy)
#define dnnl_memory_get_engine TANDEM_ONEDNN(dnnl_memory_get_engine)
#define dnnl_memory_get_memory_desc TANDEM_ONEDNN(dnnl_memory_get_memory_desc)
#define dnnl_memory_set_data_handle TANDEM_ONEDNN(dnnl_memory_set_data_handle)
#define dnnl_memory_set_data_handle_v2 TANDEM_ONEDNN(dnnl_memory_set_data_handle_v2)
#define dnnl_post_ops_append_sum TANDEM_ONEDNN(dnnl_post_ops_append_sum)
#define dnnl_post_ops_create TANDEM_ONEDNN(dnnl_post_ops_create)
#define dnnl_post_ops_destroy TANDEM_ONEDNN(dnnl_post_ops_destroy)
#define dnnl_primitive_attr_create TANDEM_ONEDNN(dnnl_primitive_attr_create)
#define dnnl_primitive_attr_destroy TANDEM_ONEDNN(dnnl_primitive_attr_destroy)
#define dnnl_primitive_attr_set_post_ops TANDEM_ONEDNN(dnnl_primitive_attr_set_post_ops)
#define dnnl_primitive_attr_set_scratchpad_mode \
  TANDEM_ONEDNN(dnnl_primitive_attr_set_scratchpad_mode)
#define dnnl_primitive_create TANDEM_ONEDNN(dnnl_primitive_create)
#define dnnl_primitive_desc_destroy TANDEM_ONEDNN(dnnl_primitive_desc_destroy)
#define dnnl_primitive_desc_iterator_create TANDEM_ONEDNN(dnnl_primitive_desc_iterator_create)
#define dnnl_primitive_desc_iterator_destroy TANDEM_ONEDNN(dnnl_primitive_desc_iterator_destroy)
#define dnnl_primitive_desc_iterator_fetch TANDEM_ONEDNN(dnnl_primitive_desc_iterator_fetch)
#define dnnl_primitive_desc_query_md TANDEM_ONEDNN(dnnl_primitive_desc_query_md)
#define dnnl_primitive_destroy TANDEM_ONEDNN(dnnl_primitive_destroy)
#define dnnl_primitive_execute TANDEM_ONEDNN(dnnl_primitive_execute)
#define dnnl_reorder_primitive_desc_create TANDEM_ONEDNN(dnnl_reorder_primitive_desc_create)
#define dnnl_set_max_cpu_isa TANDEM_ONEDNN(dnnl_set_max_cpu_isa)
#define dnnl_stream_create TANDEM_ONEDNN(dnnl_stream_create)
#define dnnl_stream_destroy TANDEM_ONEDNN(dnnl_stream_destroy)
#define dnnl_stream_wait TANDEM_ONEDNN(dnnl_stream_wait)
#define dnnl_version TANDEM_ONEDNN(dnnl_version)
#endif  // TANDEM_ONEDNN_LIBRARY

#include <dnnl.hpp>
